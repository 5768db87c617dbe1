package streamhttp

import (
	"net/http"
	"strings"
	"testing"
)

func TestParseAccept(t *testing.T) {
	tests := map[string]struct {
		values       []string
		json, events bool
	}{
		"missing":                  {nil, true, true},
		"empty":                    {[]string{""}, true, true},
		"usual":                    {[]string{"application/json, text/event-stream"}, true, true},
		"other order":              {[]string{"text/event-stream, application/json"}, true, true},
		"two headers":              {[]string{"text/event-stream", "application/json"}, true, true},
		"case and space":           {[]string{" Application/JSON ;q=0.5,\tTEXT/event-stream"}, true, true},
		"json":                     {[]string{"application/json"}, true, false},
		"events":                   {[]string{"text/event-stream"}, false, true},
		"anything":                 {[]string{"*/*"}, true, true},
		"any text":                 {[]string{"text/*"}, false, true},
		"any application":          {[]string{"application/*"}, true, false},
		"html":                     {[]string{"text/html"}, false, false},
		"refused by weight":        {[]string{"application/json;q=0, */*"}, false, true},
		"refused, other order":     {[]string{"*/*, application/json; q=0.000"}, false, true},
		"small weight":             {[]string{"application/json;q=0.001"}, true, false},
		"refused range":            {[]string{"text/*;q=0, application/json"}, true, false},
		"specific beats range":     {[]string{"text/*;q=0, text/event-stream, application/json"}, true, true},
		"prefix is another type":   {[]string{"application/jsonp, text/event-stream2"}, false, false},
		"parameters do not matter": {[]string{"application/json;charset=utf-8, text/event-stream;x=y"}, true, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, want := parseAccept(test.values), (accepted{test.json, test.events}); got != want {
				t.Errorf("parseAccept(%q) = %+v, want %+v", test.values, got, want)
			}
		})
	}
}

func TestContentType(t *testing.T) {
	tests := map[string]bool{
		"application/json":                  true,
		"Application/JSON":                  true,
		"application/json; charset=utf-8":   true,
		`application/json;charset="UTF-8"`:  true,
		"application/json; charset=latin1":  false,
		"application/json-patch+json":       false,
		"text/plain":                        false,
		"application/x-www-form-urlencoded": false,
		"multipart/form-data; boundary=x":   false,
		"":                                  false,
	}
	for value, want := range tests {
		if got := isJSON([]string{value}); got != want {
			t.Errorf("isJSON(%q) = %v, want %v", value, got, want)
		}
	}
	if isJSON(nil) || isJSON([]string{typeJSON, typeJSON}) {
		t.Error("isJSON: want one value, no more and no fewer")
	}
}

func TestGate(t *testing.T) {
	open := Options{}
	local := Options{Loopback: true, AllowedOrigins: []string{"http://localhost:3000", "null"}, AllowedHosts: []string{"dev.example", "x.example:81"}}
	named := Options{AllowedHosts: []string{"mcp.example"}}
	tests := map[string]struct {
		options Options
		host    string
		origins []string
		passes  bool
	}{
		"no origin":                  {open, "example.com", nil, true},
		"empty list":                 {open, "example.com", []string{"http://example.com"}, false},
		"null, empty list":           {open, "example.com", []string{"null"}, false},
		"empty origin":               {open, "example.com", []string{""}, false},
		"listed":                     {local, "localhost:3000", []string{"http://localhost:3000"}, true},
		"null, listed":               {local, "localhost", []string{"null"}, true},
		"other port":                 {local, "localhost", []string{"http://localhost:3001"}, false},
		"other scheme":               {local, "localhost", []string{"https://localhost:3000"}, false},
		"other case":                 {local, "localhost", []string{"HTTP://localhost:3000"}, false},
		"with a path":                {local, "localhost", []string{"http://localhost:3000/"}, false},
		"prefix":                     {local, "localhost", []string{"http://localhost:3000.evil.example"}, false},
		"twice":                      {local, "localhost", []string{"http://localhost:3000", "http://localhost:3000"}, false},
		"loopback address":           {local, "127.0.0.1:8808", nil, true},
		"other loopback address":     {local, "127.1.2.3", nil, true},
		"IPv6 loopback":              {local, "[::1]:8808", nil, true},
		"IPv6 loopback, no port":     {local, "[::1]", nil, true},
		"mapped loopback":            {local, "[::ffff:127.0.0.1]", nil, true},
		"name in capitals":           {local, "LocalHost:1", nil, true},
		"evil host":                  {local, "evil.example:8808", nil, false},
		"evil host that starts so":   {local, "localhost.evil.example", nil, false},
		"evil host with a fake port": {local, "evil.example:localhost", nil, false},
		"user info":                  {local, "localhost@evil.example", nil, false},
		"other address":              {local, "192.168.0.1", nil, false},
		"IPv6 other":                 {local, "[::2]:80", nil, false},
		"IPv6 zone":                  {local, "[::1%lo]:80", nil, false},
		"IPv6 without brackets":      {local, "::1", nil, false},
		"no host":                    {local, "", nil, false},
		"only a port":                {local, ":8808", nil, false},
		"listed host":                {local, "Dev.Example:9", nil, true},
		"listed host and port":       {local, "x.example:81", nil, true},
		"listed, other port":         {local, "x.example:82", nil, false},
		"listed, no loopback":        {named, "mcp.example", nil, true},
		"unlisted, no loopback":      {named, "127.0.0.1", nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := newGate(test.options)
			r := &http.Request{Host: test.host, Header: http.Header{}}
			if test.origins != nil {
				r.Header["Origin"] = test.origins
			}
			if reason := g.refuses(r); (reason == "") != test.passes {
				t.Errorf("refuses = %q, want passes = %v", reason, test.passes)
			}
		})
	}
}

func TestEventID(t *testing.T) {
	s, n, ok := parseEventID(string(eventID(nil, 12, 345)))
	if s != 12 || n != 345 || !ok {
		t.Errorf("parseEventID = %d, %d, %v; want 12, 345, true", s, n, ok)
	}
	s, n, ok = parseEventID(string(primingID(nil, 12, 345, 6)))
	if s != 12 || n != 345 || !ok {
		t.Errorf("parseEventID of a priming event = %d, %d, %v; want 12, 345, true", s, n, ok)
	}
	for _, bad := range []string{"", "-", "1", "1-", "-1", "1-2-3-4", "1-2-", "1-2-x", "1-2-03", "01-2", "1-+2", "1--2", " 1-2", "1-18446744073709551616", "x-1"} {
		if _, _, ok := parseEventID(bad); ok {
			t.Errorf("parseEventID(%q) is accepted", bad)
		}
	}
}

func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"application/json, text/event-stream", "*/*;q=0", ";;,,;q=", "a/b;q=0.0;q=1,", "text/*;Q = 0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := parseAccept([]string{s})
		// Adding a type that is named without a weight never takes it away.
		if more := parseAccept([]string{s, typeJSON}); !more.json {
			t.Errorf("%q and application/json do not accept JSON", s)
		}
		// A list says the same in one header and in two.
		if first, rest, ok := strings.Cut(s, ","); ok {
			if split := parseAccept([]string{first, rest}); split != got {
				t.Errorf("%q: %+v in one header, %+v in two", s, got, split)
			}
		}
		isJSON([]string{s})
	})
}

func FuzzGate(f *testing.F) {
	for _, seed := range []string{"localhost", "[::1]:1", "127.0.0.1:80", "::1", "[", "]:", "a]:1", "[::1", ":", "[]"} {
		f.Add(seed)
	}
	g := newGate(Options{Loopback: true})
	f.Fuzz(func(t *testing.T, host string) {
		if !g.host(host) {
			return
		}
		name, ok := hostname(host)
		if !ok || !strings.EqualFold(name, "localhost") && !strings.HasPrefix(name, "127.") && !strings.Contains(name, ":") {
			t.Errorf("host %q passes", host)
		}
		if g.origin([]string{host}) {
			t.Errorf("origin %q passes an empty list", host)
		}
	})
}

func FuzzLastEventID(f *testing.F) {
	for _, seed := range []string{"1-2", "0-0", "18446744073709551615-18446744073709551615", "1", "-", "١-1", "1-2-3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		s, n, ok := parseEventID(id)
		if rest, is := strings.CutPrefix(id, string(eventID(nil, s, n))); ok && (!is || rest != "" && rest[0] != '-') {
			t.Errorf("%q is read as %d-%d", id, s, n)
		}
	})
}
