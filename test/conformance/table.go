package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// print writes one table a run, then what is wrong; it returns an error if anything is.
func print(w io.Writer, reports []report) error {
	var wrong []string
	total := 0
	for _, rep := range reports {
		scored, passed, n := 0, 0, 0
		slices.SortFunc(rep.scenarios, func(a, b scenario) int { return strings.Compare(a.name, b.name) })
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(table, "\n%s\tverdict\tok\tfailed\twarned\tskipped\n", rep.run.name)
		for _, sc := range rep.scenarios {
			verdict := sc.verdict()
			fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\n", sc.name, verdict, sc.ok, sc.failed, sc.warned, sc.skipped)
			if sc.optional {
				continue
			}
			n++
			if sc.scored {
				scored++
			}
			if sc.scored && sc.good() {
				passed++
			}
			if !sc.good() {
				wrong = append(wrong, rep.run.name+" "+sc.name+": "+strings.Join(append(sc.complaints, ""), "\n    "))
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %d/%d scored, %d scenarios counted, in %v\n", rep.run.name, passed, scored, n, rep.took.Round(time.Millisecond))
		total += n
		for _, fault := range rep.faults {
			wrong = append(wrong, rep.run.name+": "+fault)
		}
	}
	for _, text := range wrong {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(text))
	}
	fmt.Fprintf(w, "\n%d passed, %d failed\n", total-min(total, len(wrong)), len(wrong))
	if len(wrong) > 0 {
		return fmt.Errorf("%d complaints", len(wrong))
	}
	if total == 0 {
		return errors.New("no scenario ran")
	}
	return nil
}

// good reports whether nothing was found that counts. A scenario of which
// nothing could be checked is not good.
func (sc *scenario) good() bool { return sc.failed == 0 && sc.warned == 0 && sc.ok > 0 }

func (sc *scenario) verdict() string {
	switch {
	case sc.optional:
		return "not counted"
	case sc.good() && sc.scored:
		return "passed"
	case sc.good():
		return "passed (not scored)"
	}
	return "FAILED"
}
