//go:build linux

package chaos

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	inFlight = 32
	// endless is when a call counts as one without an end: what its plugin has,
	// and what a busy machine needs to say so.
	endless = callTimeout + 5*time.Second
	// maxSlower is how many times the quiet p99 that of the chaos may be, of
	// calls to plugins on which nothing befell.
	maxSlower      = 3
	maxSlowerRaced = 8 // each process starts by a launcher that looks for races, too
	// maxMemory is what a host may have in memory at any moment. Without chaos
	// it is a fifth of that.
	maxMemory      = 256 << 20
	maxMemoryRaced = 1 << 30
	maxLog         = 64 << 20 // bytes that a host may log in ten minutes of floods
)

// A ward is hosts, what befell on their plugins, and what was wrong.
type ward struct {
	t      *testing.T
	hosts  []*host
	every  time.Duration // something befalls someone
	nonces atomic.Int64

	mu       sync.Mutex // guards what follows
	rand     *rand.Rand
	deck     []int // of faults: all befall before one does again
	turn     int
	wrongs   int
	befallen map[string]int
	missed   int            // times that there was nobody to fall ill
	answers  map[string]int // what callers of sick plugins were told, but for right answers
}

// wrong notes that the host did what it must never do.
func (w *ward) wrong(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrongs++; w.wrongs <= 20 {
		w.t.Errorf(format, args...)
	}
}

func (w *ward) nonce(by string) string { return fmt.Sprintf("nonce-%s-%d.", by, w.nonces.Add(1)) }

// TestChaos is the whole of it: quiet and chaos in turn, and at the end nothing
// is left. The figures that it prints are explained in docs/chaos.md.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes its time")
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d", *seed)
	mcphost := "mcphost"
	if raced {
		mcphost = racedHost
	}
	config := writeConfig(t)
	w := &ward{t: t, every: time.Second, rand: rand.New(rand.NewPCG(*seed, 0)), befallen: map[string]int{}, answers: map[string]int{}}
	w.hosts = []*host{startWeb(t, mcphost, "serve", config), startPipe(t, mcphost, "start", config, "all")}
	if *chaosFor < time.Minute {
		w.every /= 2 // for each fault to have its turn
	}
	w.settle()
	w.phase(time.Second, false) // warms up
	before := w.sizes()

	w.rounds(*chaosFor)

	w.noMore(before)
	w.bounded()
	for _, h := range w.hosts {
		victim{w, h, sick[0]}.ask("stubborn", "") // not even at the end will it go by itself
		h.stop()
	}
	nothingLeft(t)
	w.report()
}

// rounds goes on for about d, quiet for a quarter of it. Each chaos is compared
// with the quiet before and after it, and of that the median counts: so what
// else happens on this machine stays out of the comparison.
func (w *ward) rounds(d time.Duration) {
	n := max(3, int(d/(30*time.Second)))
	length := d / time.Duration(n)
	before := w.phase(length/4, false)
	w.t.Logf("quiet: %v", before)
	var ratios []float64
	for i := range n {
		chaos := w.phase(length*3/4, true)
		after := w.phase(length/4, false)
		quiet := max((before.p99()+after.p99())/2, 5*time.Millisecond) // below that, it is what else runs here
		ratio := float64(chaos.p99()) / float64(quiet)
		w.t.Logf("round %d: chaos %v; all served again after %v; quiet %v; p99 %.2f times the quiet one", i+1, chaos, chaos.settled, after, ratio)
		if w.t.Failed() {
			return
		}
		ratios = append(ratios, ratio)
		before = after
	}
	limit := maxSlower
	if raced {
		limit = maxSlowerRaced
	}
	w.t.Logf("p99 of healthy plugins in chaos: %.2f times the quiet one", median(ratios))
	if got := median(ratios); got > float64(limit) {
		w.t.Errorf("in chaos the p99 of healthy plugins is %.2f times the quiet one, at most %d is allowed", got, limit)
	}
}

func median[T cmp.Ordered](list []T) T {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// A phase is what came of some seconds.
type phase struct {
	took    []time.Duration // calls to healthy plugins, sorted
	others  int             // right answers of sick ones
	errors  int             // of sick ones
	longest time.Duration   // of all calls
	settled time.Duration   // after chaos, all served again
	seconds float64
}

func (p *phase) p99() time.Duration {
	if len(p.took) == 0 {
		return 0
	}
	return p.took[len(p.took)*99/100]
}

func (p *phase) String() string {
	return fmt.Sprintf("%.0f+%.0f calls/s, %d errors, p50 %v p99 %v, longest %v", float64(len(p.took))/p.seconds, float64(p.others)/p.seconds,
		p.errors, p.took[len(p.took)/2].Round(10*time.Microsecond), p.p99().Round(10*time.Microsecond), p.longest.Round(time.Millisecond))
}

// phase keeps inFlight calls in flight for d, half of them to healthy plugins,
// and after chaos until all serve again.
func (w *ward) phase(d time.Duration, chaos bool) *phase {
	var lanes []lane
	var names []string
	for _, h := range w.hosts {
		lanes = append(lanes, h.modern, h.legacy)
		names = append(names, "modern "+h.name, "legacy "+h.name)
	}
	stop := make(chan struct{})
	callers := make([]caller, inFlight)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range callers {
		c := &callers[i]
		*c = caller{w: w, lane: lanes[i%len(lanes)], name: names[i%len(lanes)], handles: healthy}
		if c.sick = i%8 >= 4; c.sick {
			c.handles = sick
		}
		wg.Go(func() { c.run(stop) })
	}
	p := &phase{}
	if chaos {
		w.plague(time.After(d))
		p.settled = w.settle().Round(time.Millisecond)
	} else {
		<-time.After(d)
	}
	close(stop)
	p.seconds = time.Since(start).Seconds()
	wg.Wait()
	for i := range callers {
		p.add(&callers[i])
	}
	slices.Sort(p.took)
	if len(p.took) == 0 {
		w.t.Fatal("healthy plugins answered nothing")
	}
	return p
}

func (p *phase) add(c *caller) {
	p.longest = max(p.longest, c.longest)
	p.errors += c.errors
	if c.sick {
		p.others += len(c.took)
	} else {
		p.took = append(p.took, c.took...)
	}
}

// sizes returns what each host has in use when nobody calls and all has ended
// that ends by itself: the least of a while.
func (w *ward) sizes() map[*host]size {
	w.t.Helper()
	least := map[*host]size{}
	for _, h := range w.hosts {
		least[h] = h.size()
		for range 10 {
			<-time.After(200 * time.Millisecond)
			s := h.size()
			least[h] = size{
				min(s.goroutines, least[h].goroutines), min(s.descriptors, least[h].descriptors),
				min(s.threads, least[h].threads), min(s.processes, least[h].processes),
			}
		}
	}
	return least
}

// noMore demands that no host has more in use than before, soon.
func (w *ward) noMore(before map[*host]size) {
	w.t.Helper()
	for _, h := range w.hosts {
		var now size
		eventually(w.t, patience, func() string {
			now = h.size()
			b := before[h]
			if now.goroutines > b.goroutines || now.descriptors > b.descriptors || now.processes > b.processes {
				return fmt.Sprintf("%s has %v, at the start it had %v; processes: %v", h.name, now, b, below(h.pid))
			}
			return ""
		})
		w.t.Logf("%s: %v; at the start %v", h.name, now, before[h])
	}
}

// bounded demands that floods have not gone to memory or to the disk.
func (w *ward) bounded() {
	limit := maxMemory
	if raced {
		limit = maxMemoryRaced
	}
	for _, h := range w.hosts {
		peak := status(w.t, h.pid, "VmHWM") << 10
		log, err := os.ReadFile(h.log)
		if err != nil {
			w.t.Fatal(err)
		}
		starts := bytes.Count(log, []byte("plugin started"))
		w.t.Logf("%s: at most %d MiB in memory, %d KiB of log, %d starts of plugins", h.name, peak>>20, len(log)>>10, starts)
		if starts < len(healthy)+len(sick)+2 {
			w.t.Errorf("%s started plugins %d times: this was no chaos", h.name, starts)
		}
		if peak > limit {
			w.t.Errorf("%s took %d MiB, at most %d are allowed", h.name, peak>>20, limit>>20)
		}
		if len(log) > maxLog {
			w.t.Errorf("%s logged %d MiB, at most %d are allowed", h.name, len(log)>>20, maxLog>>20)
		}
	}
}

// nothingLeft demands that hosts that ended left no process and no file behind
// but their state.
func nothingLeft(t *testing.T) {
	t.Helper()
	eventually(t, 5*time.Second, func() string {
		reap(nil)
		if list := below(os.Getpid()); len(list) > 0 {
			return fmt.Sprintf("processes are left: %v", list)
		}
		return ""
	})
	for _, dir := range []string{"run", "tmp"} {
		err := filepath.WalkDir(filepath.Join(house, dir), func(path string, e fs.DirEntry, err error) error {
			if err == nil && (!e.IsDir() || strings.Count(strings.TrimPrefix(path, house), "/") > 3) {
				t.Errorf("left behind: %s", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// report prints what befell, and what callers were told.
func (w *ward) report() {
	w.mu.Lock()
	defer w.mu.Unlock()
	total := 0
	for _, f := range faults {
		total += w.befallen[f.name]
		w.t.Logf("%4d × %s", w.befallen[f.name], f.name)
	}
	for _, text := range slices.Sorted(maps.Keys(w.answers)) {
		w.t.Logf("%5d × %q", w.answers[text], text)
	}
	if w.missed > total/10 {
		w.t.Errorf("%d times there was nobody to fall ill, and %d faults befell: this was no chaos", w.missed, total)
	}
}

// A caller calls plugins, one call after the other.
type caller struct {
	w       *ward
	lane    lane
	name    string
	handles []string
	sick    bool

	took    []time.Duration // right answers
	errors  int
	longest time.Duration
}

func (c *caller) run(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		handle := c.handles[rand.IntN(len(c.handles))]
		if c.one(handle, rand.IntN(10)) {
			continue
		}
		select { // one that is down answers at once: that is no load to be had
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// one makes a call and reports whether it gave the right answer. Most stay with
// the plugin for a while: in flight, and not waiting for a processor of this
// machine. What is measured is the rest.
func (c *caller) one(handle string, dice int) bool {
	nonce, wait := c.w.nonce("call"), time.Duration(5+rand.IntN(50))*time.Millisecond
	q, right := &call{tool: handle + "_echo", args: fmt.Sprintf(`{"nonce":%q,"wait":%d}`, nonce, wait.Milliseconds())}, nonce
	switch {
	case dice < 3:
		payload := strings.Repeat(nonce, 1+rand.IntN(300))
		wait = 0
		q.tool, q.args = handle+"_hash", fmt.Sprintf(`{"nonce":%q,"payload":%q}`, nonce, payload)
		right = fmt.Sprintf("%s %x", nonce, sha256.Sum256([]byte(payload)))
	case dice < 4:
		q.tool, q.progress = handle+"_steps", rand.IntN(2) == 0
	}
	where := c.name + ", " + q.tool
	a, took, err := c.w.call(c.lane, q)
	c.longest = max(c.longest, took)
	if took > endless {
		c.w.wrong("%s: took %v", where, took)
	}
	switch {
	case err != nil:
		c.w.wrong("%s: %v", where, err)
		return false
	case a.failed && !c.sick:
		c.w.wrong("%s: an error on a healthy plugin: %.500s", where, a.raw)
		return false
	case a.failed:
		c.w.discreet(where, nonce, a)
		c.w.told(a.text)
		c.errors++
		return false
	case a.text != right:
		c.w.wrong("%s: answered %.300q, %.300q is right", where, a.text, right)
		return false
	}
	c.took = append(c.took, took-wait)
	return true
}

var incident = regexp.MustCompile(`\b[a-z0-9]{12}\b`)

// told counts what a caller was told, less what differs each time.
func (w *ward) told(text ...string) {
	all := incident.ReplaceAllString(strings.TrimSpace(strings.Join(text, " ")), "INCIDENT")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[all[:min(len(all), 150)]]++
}
