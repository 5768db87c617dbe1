//go:build linux

// Command escape is a plugin that tries to get out of its sandbox, for the
// tests. It serves lines on a unix socket, as a plugin serves calls: "echo
// TEXT" is answered with the text, and "try NAME ARGUMENT" with what came of
// it: "reached", or "denied" and why.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: escape serve SOCKET | once NAME ARGUMENT | ...")
		os.Exit(2)
	}
	switch os.Args[1] {
	case "serve":
		serve(os.Args[2])
	case "once": // a try that may not survive, in a process of its own
		fmt.Println(verdict(tries[os.Args[2]](os.Args[3])))
	case "exit":
		var code int
		fmt.Sscan(os.Args[2], &code)
		os.Exit(code)
	case "abort":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "signal": // ends well when it is asked to
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		os.Exit(7)
	case "sleep": // a process that has left its parents, for the test to look for
		time.Sleep(time.Hour)
	}
}

func serve(socket string) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go answer(conn)
	}
}

func answer(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		command, rest, _ := strings.Cut(lines.Text(), " ")
		name, argument, _ := strings.Cut(rest, " ")
		switch {
		case command == "echo":
			fmt.Fprintln(conn, rest)
		case command == "try" && tries[name] != nil:
			fmt.Fprintln(conn, verdict(tries[name](argument)))
		case command == "child" && tries[name] != nil:
			fmt.Fprintln(conn, inChild(name, argument))
		default:
			fmt.Fprintln(conn, "unknown command")
		}
	}
}

// verdict is "reached", or "denied" with the name of the error.
func verdict(err error) string {
	if err == nil {
		return "reached"
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return "denied " + errnoName(errno)
	}
	return "denied " + strings.ReplaceAll(err.Error(), "\n", " ")
}

// inChild makes a try in a process that may die of it.
func inChild(name, argument string) string {
	out, err := exec.Command("/proc/self/exe", "once", name, argument).Output()
	if len(out) > 0 {
		return strings.TrimSpace(string(out))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return "denied " + signalName(status.Signal())
		}
	}
	return fmt.Sprintf("no verdict: %v", err)
}
