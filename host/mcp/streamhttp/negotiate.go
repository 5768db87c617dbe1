package streamhttp

import (
	"iter"
	"net/http"
	"strings"

	"github.com/mcphost/mcphost/host/mcp"
)

const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// An accepted says which of the two forms of a response a client takes.
type accepted struct{ json, events bool }

// parseAccept reads the values of the Accept header. Without one, everything
// is accepted (RFC 9110, section 12.5.1).
func parseAccept(values []string) accepted {
	if len(values) == 1 && values[0] == typeJSON+", "+typeEvents {
		return accepted{json: true, events: true}
	}
	var json, events preference
	empty := true
	for _, v := range values {
		for r := range list(v, ',') {
			media, params, _ := strings.Cut(r, ";")
			if media = trim(media); media == "" {
				continue
			}
			empty = false
			zero := hasZeroWeight(params)
			json.consider(media, typeJSON, zero)
			events.consider(media, typeEvents, zero)
		}
	}
	return accepted{json: empty || json.ok, events: empty || events.ok}
}

// A preference is what the most specific range so far says of a type.
type preference struct {
	specificity int
	ok          bool
}

func (p *preference) consider(media, want string, zeroWeight bool) {
	s := 0
	slash := strings.IndexByte(want, '/')
	switch {
	case strings.EqualFold(media, want):
		s = 3
	case len(media) == slash+2 && media[slash+1] == '*' && strings.EqualFold(media[:slash+1], want[:slash+1]):
		s = 2
	case media == "*/*":
		s = 1
	}
	if s > p.specificity || s == p.specificity && s > 0 && !zeroWeight {
		p.specificity, p.ok = s, !zeroWeight
	}
}

// hasZeroWeight reports whether the parameters of a media range have q=0.
func hasZeroWeight(params string) bool {
	for p := range list(params, ';') {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(trim(name), "q") {
			v := trim(value)
			return v != "" && v[0] == '0' && strings.Trim(v, "0.") == ""
		}
	}
	return false
}

// isJSON reports whether the values of the Content-Type header name JSON, in UTF-8.
func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	media, params, _ := strings.Cut(values[0], ";")
	if !strings.EqualFold(trim(media), typeJSON) {
		return false
	}
	for p := range list(params, ';') {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(trim(name), "charset") && !strings.EqualFold(strings.Trim(trim(value), `"`), "utf-8") {
			return false
		}
	}
	return true
}

// list returns the parts of s between the separators.
func list(s string, separator byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s != "" {
			part, rest := s, ""
			if i := strings.IndexByte(s, separator); i >= 0 {
				part, rest = s[:i], s[i+1:]
			}
			if !yield(part) {
				return
			}
			s = rest
		}
	}
}

func trim(s string) string { return strings.Trim(s, " \t") }

// negotiate checks what a POST says of its body and of the response that it
// wants; it reports false if it has refused r.
func (h *Handler) negotiate(w http.ResponseWriter, r *http.Request) (accepted, bool) {
	can := parseAccept(r.Header["Accept"])
	switch {
	case !isJSON(r.Header["Content-Type"]):
		h.refuse(w, http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
	case !isIdentity(r.Header["Content-Encoding"]):
		w.Header().Set("Accept-Encoding", "identity")
		h.refuse(w, http.StatusUnsupportedMediaType, "no Content-Encoding is supported")
	case !can.json:
		h.refuse(w, http.StatusNotAcceptable, "Accept must include application/json and text/event-stream")
	case !can.events && isListen(r.Header["Mcp-Method"]):
		// A request without this header does not get as far as a subscription.
		h.refuse(w, http.StatusNotAcceptable, mcp.MethodListen.Name+" needs an Accept that includes text/event-stream")
	default:
		return can, true
	}
	return can, false
}

func isIdentity(values []string) bool {
	return len(values) == 0 || len(values) == 1 && (trim(values[0]) == "" || strings.EqualFold(trim(values[0]), "identity"))
}

func isListen(values []string) bool {
	return len(values) > 0 && trim(values[0]) == mcp.MethodListen.Name
}

// A version is what the MCP-Protocol-Version header of a request says.
type version struct {
	text    string
	present bool
	twice   bool
	known   bool
	modern  bool
}

func readVersion(header http.Header) version {
	values := header["Mcp-Protocol-Version"]
	if len(values) == 0 {
		return version{}
	}
	v := version{text: trim(values[0]), present: true, twice: len(values) > 1}
	revision, ok := mcp.ParseRevision(v.text)
	v.known = ok
	v.modern = ok && revision.Lineage() == mcp.Modern
	return v
}
