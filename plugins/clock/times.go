package main

import (
	"fmt"
	"strings"
	"time"
)

// layouts of a local time, from the most to the least exact.
var layouts = []string{
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
}

// parse reads a time: "now", RFC 3339, or one that is local to zone. The note says what happened to a local time that the
// zone does not have, or has twice.
func parse(text string, zone *time.Location, now time.Time) (t time.Time, note string, err error) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "now") {
		return now, "", nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, "", nil
		}
	}
	for _, clock := range []string{"15:04", "15:04:05"} {
		if _, err := time.Parse(clock, text); err == nil {
			text = now.In(zone).Format(time.DateOnly) + " " + text
		}
	}
	for _, layout := range layouts {
		wall, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
		t, note := settle(t, wall)
		return t, note, nil
	}
	return time.Time{}, "", fmt.Errorf("%q is not a time; write 2026-07-28T14:30:00+02:00, 2026-07-28 14:30, 2026-07-28, 14:30 or now", text)
}

// settle compares a time with the wall clock that it was read from. Of two times that look the same it takes the earlier.
func settle(t, wall time.Time) (time.Time, string) {
	const clock = "2006-01-02 15:04:05"
	if t.Format(clock) != wall.Format(clock) {
		return t, "this local time does not exist, the clocks skip it; it was moved to one that does"
	}
	start, end := t.ZoneBounds()
	for _, bound := range []time.Time{start, end} {
		if bound.IsZero() {
			continue
		}
		_, before := bound.Add(-time.Second).Zone()
		_, after := bound.Zone()
		for _, shift := range []int{before - after, after - before} {
			twin := t.Add(time.Duration(shift) * time.Second)
			if shift == 0 || twin.Format(clock) != wall.Format(clock) {
				continue
			}
			if twin.Before(t) {
				t = twin
			}
			return t, "this local time occurs twice, the clocks are set back; the earlier one, " + t.Format("-07:00") + ", was taken"
		}
	}
	return t, ""
}

// days counts the midnights between two times of one zone.
func days(from, to time.Time) int {
	midnight := func(t time.Time) int64 {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / 86400
	}
	return int(midnight(to) - midnight(from))
}

// spell says how long it is from one time to another, by the calendar of their zone.
func spell(from, to time.Time) string {
	sign := ""
	if to.Before(from) {
		from, to, sign = to, from, "minus "
	}
	years := to.Year() - from.Year()
	months := int(to.Month()) - int(from.Month()) + 12*years
	for months > 0 && addMonths(from, months).After(to) {
		months--
	}
	rest := addMonths(from, months)
	wholeDays := days(rest, to)
	for wholeDays > 0 && rest.AddDate(0, 0, wholeDays).After(to) {
		wholeDays--
	}
	left := to.Sub(rest.AddDate(0, 0, wholeDays))
	var parts []string
	for _, part := range []struct {
		n    int
		word string
	}{
		{months / 12, "year"},
		{months % 12, "month"},
		{wholeDays, "day"},
		{int(left.Hours()), "hour"},
		{int(left.Minutes()) % 60, "minute"},
		{int(left.Seconds()) % 60, "second"},
	} {
		if part.n == 1 {
			parts = append(parts, "1 "+part.word)
		} else if part.n > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss", part.n, part.word))
		}
	}
	if len(parts) == 0 {
		return "0 seconds"
	}
	return sign + strings.Join(parts, ", ")
}

// addMonths adds months and stays in the month that it reaches: a month after January 31 is the end of February.
func addMonths(t time.Time, months int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}
