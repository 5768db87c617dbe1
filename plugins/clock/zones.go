package main

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // a sandbox has no /usr/share/zoneinfo

	"github.com/mcphost/mcphost/sdk"
)

// zoneList names the zones that time/tzdata holds and that a person may mean, one a line, sorted.
//
//go:embed zones.txt
var zoneList string

// loadZone returns a zone by its IANA name, spelled in any case.
func loadZone(name string) (*time.Location, error) {
	// "Local" is what the process is set to, and says nothing to a client.
	if !strings.EqualFold(name, "local") && name != "" {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	near := find(lastPart(name), 3)
	for known := range strings.Lines(zoneList) {
		if known = strings.TrimSpace(known); strings.EqualFold(known, name) {
			return time.LoadLocation(known)
		}
	}
	if len(near) > 0 {
		return nil, fmt.Errorf("there is no time zone %q; did you mean %s?", name, strings.Join(near, ", "))
	}
	return nil, fmt.Errorf("there is no time zone %q; use an IANA name such as Europe/Oslo, or look one up with zones", name)
}

func lastPart(name string) string { return name[strings.LastIndex(name, "/")+1:] }

// find returns up to limit zones whose name holds query, whatever the case and with spaces for underscores.
func find(query string, limit int) []string {
	query = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(query)), " ", "_")
	if query == "" {
		return nil
	}
	var found []string
	for name := range strings.Lines(zoneList) {
		if name = strings.TrimSpace(name); strings.Contains(strings.ToLower(name), query) && len(found) < limit {
			found = append(found, name)
		}
	}
	return found
}

type zonesIn struct {
	Query string `json:"query" jsonschema:"part of a name, such as tokyo, america/ or new york"`
	Limit int    `json:"limit" default:"50" minimum:"1" maximum:"600" jsonschema:"the most zones to tell"`
}

type zonesOut struct {
	Zones []zoneOut `json:"zones"`
	More  bool      `json:"more" jsonschema:"whether there are more than limit"`
}

type zoneOut struct {
	Name   string `json:"name"`
	Offset string `json:"offset" jsonschema:"from UTC, now"`
	Time   string `json:"time" jsonschema:"local, now"`
}

func (c *clock) zones(_ context.Context, _ *sdk.Call, in zonesIn) (zonesOut, error) {
	limit := min(max(in.Limit, 1), 600)
	names := find(in.Query, limit+1)
	out := zonesOut{Zones: []zoneOut{}, More: len(names) > limit}
	now := c.now()
	for _, name := range names[:min(limit, len(names))] {
		zone, err := time.LoadLocation(name)
		if err != nil {
			return zonesOut{}, err
		}
		t := now.In(zone)
		out.Zones = append(out.Zones, zoneOut{Name: name, Offset: t.Format("-07:00"), Time: t.Format("2006-01-02 15:04")})
	}
	return out, nil
}
