package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// processStat is what the host reads of a process in /proc.
type processStat struct {
	parent int
	zombie bool
}

func readStat(pid int) (processStat, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return processStat{}, err
	}
	// The name in parentheses may hold anything, parentheses and spaces, too.
	_, rest, ok := bytes.Cut(data[max(bytes.LastIndexByte(data, ')'), 0):], []byte(") "))
	fields := strings.Fields(string(rest))
	if !ok || len(fields) < 2 {
		return processStat{}, fmt.Errorf("reading the state of process %d: %q", pid, data)
	}
	parent, err := strconv.Atoi(fields[1])
	return processStat{parent: parent, zombie: fields[0] == "Z" || fields[0] == "X"}, err
}

// use is what a process takes of what is limited.
type use struct {
	memory  int64 // bytes that are its own or shared memory, not files
	threads int
}

func readUse(pid int) (use, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return use{}, err
	}
	var u use
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "RssAnon", "RssShmem", "VmSwap":
			u.memory += kilobytes(value)
		case "Threads":
			u.threads = int(number(value))
		}
	}
	return u, nil
}

// readShare returns the memory of a process with what it shares divided among
// the sharers, or false if the kernel does not tell.
func readShare(pid int) (int64, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, false
	}
	var sum int64
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "Pss_Anon", "Pss_Shmem", "SwapPss":
			sum += kilobytes(value)
		}
	}
	return sum, sum > 0
}

func kilobytes(value string) int64 {
	return number(strings.TrimSuffix(strings.TrimSpace(value), " kB")) << 10
}

func number(value string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil {
		return 0 // the kernel writes numbers
	}
	return n
}

// tree lists root and its descendants, at most limit of them.
func tree(root, limit int) []int {
	pids := []int{root}
	for i := 0; i < len(pids) && len(pids) < limit; i++ {
		pids = append(pids, children(pids[i])...)
	}
	return pids
}

// children asks every thread: a child belongs to the thread that forked it.
func children(pid int) []int {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil // it has ended
	}
	var pids []int
	for _, thread := range threads {
		data, err := os.ReadFile(dir + "/" + thread.Name() + "/children")
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}
