package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mcphost/mcphost/sdk"
)

// version is the plugin's own.
const version = "0.1.0"

// clock answers from what now says.
type clock struct{ now func() time.Time }

// newPlugin returns the plugin, for which it is now when now says so.
func newPlugin(now func() time.Time) *sdk.Plugin {
	c := &clock{now: now}
	p := sdk.New("clock", version, sdk.WithInstructions("Times without an offset are local to the zone that is named. Zones are IANA names such as Europe/Oslo; find them with zones."))
	tool := func(name, title, description string) sdk.Tool {
		return sdk.Tool{Name: name, Title: title, Description: description, ReadOnly: sdk.Yes, Idempotent: sdk.Yes, OpenWorld: sdk.No}
	}
	sdk.AddTool(p, tool("now", "Current time", "The current time in a time zone, with its offset and the next clock change."), c.current)
	sdk.AddTool(p, tool("convert", "Convert time", "Converts a time from one time zone to others."), c.convert)
	sdk.AddTool(p, tool("difference", "Time difference", "How long it is from one time to another, exactly and in calendar terms."), c.difference)
	sdk.AddTool(p, tool("zones", "Find time zones", "Finds time zones by a part of their name, such as a city, with their current offset."), c.zones)
	return p
}

// A moment is a time in a zone, told in every way that one may want.
type moment struct {
	Time         string `json:"time" jsonschema:"RFC 3339, with offset"`
	Zone         string `json:"zone"`
	Abbreviation string `json:"abbreviation"`
	Offset       string `json:"offset" jsonschema:"from UTC, such as +02:00"`
	DST          bool   `json:"dst" jsonschema:"whether it is daylight saving time"`
	Weekday      string `json:"weekday"`
	Week         string `json:"week" jsonschema:"ISO 8601 week"`
	Unix         int64  `json:"unix"`
	NextChange   string `json:"next_change,omitempty" jsonschema:"when the zone's offset changes next"`
	Note         string `json:"note,omitempty"`
}

func momentOf(t time.Time, zone string) moment {
	abbreviation, _ := t.Zone()
	year, week := t.ISOWeek()
	m := moment{
		Time: t.Format(time.RFC3339), Zone: zone, Abbreviation: abbreviation, Offset: t.Format("-07:00"), DST: t.IsDST(),
		Weekday: t.Weekday().String(), Week: fmt.Sprintf("%d-W%02d", year, week), Unix: t.Unix(),
	}
	if _, end := t.ZoneBounds(); !end.IsZero() {
		m.NextChange = end.Format(time.RFC3339)
	}
	return m
}

type nowIn struct {
	Zone string `json:"zone" default:"UTC" jsonschema:"IANA time zone, such as Europe/Oslo"`
}

func (c *clock) current(_ context.Context, _ *sdk.Call, in nowIn) (moment, error) {
	zone, err := loadZone(in.Zone)
	if err != nil {
		return moment{}, err
	}
	return momentOf(c.now().In(zone), in.Zone), nil
}

type convertIn struct {
	Time string   `json:"time" jsonschema:"RFC 3339, or a local time such as 2026-07-28 14:30, or 14:30 for today"`
	From string   `json:"from" default:"UTC" jsonschema:"zone that a time without an offset is local to"`
	To   []string `json:"to" jsonschema:"zones to convert to"`
}

type convertOut struct {
	From moment   `json:"from"`
	To   []moment `json:"to"`
}

// maxTargets bounds what one conversion tells.
const maxTargets = 50

func (c *clock) convert(_ context.Context, _ *sdk.Call, in convertIn) (convertOut, error) {
	if len(in.To) == 0 || len(in.To) > maxTargets {
		return convertOut{}, fmt.Errorf("give 1 to %d zones to convert to", maxTargets)
	}
	from, err := loadZone(in.From)
	if err != nil {
		return convertOut{}, err
	}
	t, note, err := parse(in.Time, from, c.now())
	if err != nil {
		return convertOut{}, err
	}
	out := convertOut{From: momentOf(t.In(from), in.From), To: []moment{}}
	out.From.Note = note
	for _, name := range in.To {
		to, err := loadZone(name)
		if err != nil {
			return convertOut{}, err
		}
		out.To = append(out.To, momentOf(t.In(to), name))
	}
	return out, nil
}

type differenceIn struct {
	From string `json:"from" jsonschema:"a time as in convert, or now"`
	To   string `json:"to" default:"now" jsonschema:"a time as in convert, or now"`
	Zone string `json:"zone" default:"UTC" jsonschema:"zone that times without an offset are local to, and whose calendar counts"`
}

type differenceOut struct {
	From    string  `json:"from"`
	To      string  `json:"to"`
	Seconds int64   `json:"seconds" jsonschema:"negative if the second time is earlier"`
	Hours   float64 `json:"hours"`
	Days    int     `json:"days" jsonschema:"midnights of the zone between the two"`
	Text    string  `json:"text"`
}

func (c *clock) difference(_ context.Context, _ *sdk.Call, in differenceIn) (differenceOut, error) {
	zone, err := loadZone(in.Zone)
	if err != nil {
		return differenceOut{}, err
	}
	from, _, err := parse(in.From, zone, c.now())
	if err != nil {
		return differenceOut{}, fmt.Errorf("from: %w", err)
	}
	to, _, err := parse(in.To, zone, c.now())
	if err != nil {
		return differenceOut{}, fmt.Errorf("to: %w", err)
	}
	from, to = from.In(zone), to.In(zone)
	// Unix seconds reach further than a time.Duration, which ends after 292 years.
	seconds := to.Unix() - from.Unix()
	return differenceOut{
		From: from.Format(time.RFC3339), To: to.Format(time.RFC3339),
		Seconds: seconds, Hours: float64(seconds) / 3600, Days: days(from, to), Text: spell(from, to),
	}, nil
}
