package main

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcphost/mcphost/sdk/sdktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start serves the plugin at noon of a summer's day.
func start(t *testing.T) *sdktest.Client {
	t.Helper()
	noon := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	return sdktest.Start(t, newPlugin(func() time.Time { return noon }))
}

func TestEveryListedZoneLoads(t *testing.T) {
	count := 0
	for name := range strings.Lines(zoneList) {
		count++
		if _, err := time.LoadLocation(strings.TrimSpace(name)); err != nil {
			t.Error(err)
		}
	}
	if count < 400 {
		t.Errorf("only %d zones", count)
	}
}

func TestToolsAreReadOnly(t *testing.T) {
	for _, tool := range start(t).Catalog().GetTools() {
		if !tool.GetAnnotations().GetReadOnly() || tool.GetDescription() == "" {
			t.Errorf("%s is not read only or not described", tool.GetName())
		}
	}
}

func TestNow(t *testing.T) {
	var got moment
	start(t).Call("now", map[string]any{"zone": "Europe/Oslo"}).Decode(&got)
	want := moment{
		Time: "2026-07-28T14:00:00+02:00", Zone: "Europe/Oslo", Abbreviation: "CEST", Offset: "+02:00", DST: true,
		Weekday: "Tuesday", Week: "2026-W31", Unix: 1785240000, NextChange: "2026-10-25T02:00:00+01:00",
	}
	if got != want {
		t.Errorf("now = %+v, want %+v", got, want)
	}
	var utc moment
	start(t).Call("now", struct{}{}).Decode(&utc)
	if utc.Zone != "UTC" || utc.NextChange != "" {
		t.Errorf("now = %+v, want UTC", utc)
	}
}

func TestUnknownZonesGetAProposal(t *testing.T) {
	tests := map[string]string{
		"Europe/oslo": "",
		"oslo":        `there is no time zone "oslo"; did you mean Europe/Oslo?`,
		"Mars/Base":   `there is no time zone "Mars/Base"; use an IANA name such as Europe/Oslo, or look one up with zones`,
		"Local":       `there is no time zone "Local"; use an IANA name such as Europe/Oslo, or look one up with zones`,
		"../etc":      `there is no time zone "../etc"; did you mean Etc/GMT, Etc/GMT+0, Etc/GMT+1?`,
	}
	c := start(t)
	for zone, want := range tests {
		got := c.Call("now", map[string]any{"zone": zone})
		if got.IsError() != (want != "") || (want != "" && got.Text() != want) {
			t.Errorf("%s: %q, want %q", zone, got.Text(), want)
		}
	}
}

func TestConvert(t *testing.T) {
	tests := map[string]struct{ time, from, want, note string }{
		"offset beats zone": {"2026-01-01T00:00:00+09:00", "Europe/Oslo", "2025-12-31T10:00:00-05:00", ""},
		"local":             {"2026-01-01 00:00", "Asia/Tokyo", "2025-12-31T10:00:00-05:00", ""},
		"date":              {"2026-01-01", "UTC", "2025-12-31T19:00:00-05:00", ""},
		"clock is today":    {"09:30", "Asia/Tokyo", "2026-07-27T20:30:00-04:00", ""},
		"now":               {"now", "UTC", "2026-07-28T08:00:00-04:00", ""},
		"skipped":           {"2026-03-29 02:30", "Europe/Oslo", "2026-03-28T21:30:00-04:00", "does not exist"},
		"twice":             {"2026-10-25 02:30", "Europe/Oslo", "2026-10-24T20:30:00-04:00", "occurs twice"},
		"just after":        {"2026-10-25 03:00", "Europe/Oslo", "2026-10-24T22:00:00-04:00", ""},
	}
	c := start(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got convertOut
			c.Call("convert", map[string]any{"time": test.time, "from": test.from, "to": []string{"America/New_York"}}).Decode(&got)
			if got.To[0].Time != test.want || !strings.Contains(got.From.Note, test.note) || (test.note == "") != (got.From.Note == "") {
				t.Errorf("got %s, note %q; want %s, note %q", got.To[0].Time, got.From.Note, test.want, test.note)
			}
		})
	}
	for name, arguments := range map[string]map[string]any{
		"no target": {"time": "now", "to": []string{}}, "no time": {"time": "noonish", "to": []string{"UTC"}},
		"bad target": {"time": "now", "to": []string{"X"}}, "too many": {"time": "now", "to": make([]string, 51)},
	} {
		if got := c.Call("convert", arguments); !got.IsError() {
			t.Errorf("%s: %q, want an error", name, got.Text())
		}
	}
}

func TestDifference(t *testing.T) {
	tests := map[string]struct {
		from, to, zone string
		seconds        int64
		days           int
		text           string
	}{
		"to now":         {"2026-07-28 11:00", "", "UTC", 3600, 0, "1 hour"},
		"backwards":      {"now", "2026-07-28T11:59:58Z", "UTC", -2, 0, "minus 2 seconds"},
		"none":           {"now", "now", "UTC", 0, 0, "0 seconds"},
		"short day":      {"2026-03-29", "2026-03-30", "Europe/Oslo", 23 * 3600, 1, "1 day"},
		"end of month":   {"2026-01-31", "2026-03-01", "UTC", 29 * 86400, 29, "1 month, 1 day"},
		"centuries":      {"1500-01-01", "2026-01-01", "UTC", 16598995200, 192118, "526 years"},
		"across nothing": {"2026-07-28 23:59", "2026-07-29 00:01", "UTC", 120, 1, "2 minutes"},
	}
	c := start(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			arguments := map[string]any{"from": test.from, "zone": test.zone}
			if test.to != "" {
				arguments["to"] = test.to
			}
			var got differenceOut
			c.Call("difference", arguments).Decode(&got)
			if got.Seconds != test.seconds || got.Days != test.days || got.Text != test.text {
				t.Errorf("got %+v, want %+v", got, test)
			}
		})
	}
}

func TestZones(t *testing.T) {
	var got zonesOut
	c := start(t)
	c.Call("zones", map[string]any{"query": "new york"}).Decode(&got)
	if len(got.Zones) != 1 || got.Zones[0] != (zoneOut{"America/New_York", "-04:00", "2026-07-28 08:00"}) || got.More {
		t.Errorf("zones = %+v", got)
	}
	c.Call("zones", map[string]any{"query": "europe/", "limit": 2}).Decode(&got)
	if len(got.Zones) != 2 || !got.More {
		t.Errorf("zones = %+v, want two and more", got)
	}
}
