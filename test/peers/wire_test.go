package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// Keys of _meta.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaInfo         = "io.modelcontextprotocol/clientInfo"
	metaLevel        = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// A message is what of a message decides where it belongs.
type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Meta          map[string]json.RawMessage `json:"_meta"`
		ProgressToken json.RawMessage
		RequestID     json.RawMessage
	}
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func parse(msg []byte) (m message, err error) {
	err = json.Unmarshal(msg, &m)
	return m, err
}

// A record holds what was wrong with what a host said, and how many messages
// of each revision it said.
type record struct {
	mu      sync.Mutex // guards what follows, and the wires
	faults  []string
	counted map[string]int
}

// newRecord returns a record that fails t, at its end, if a message was no
// valid one of its revision, or if there was none.
func newRecord(t *testing.T) *record {
	t.Helper()
	if _, err := schemas(); err != nil {
		t.Fatal(err)
	}
	r := &record{counted: map[string]int{}}
	t.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, fault := range r.faults {
			t.Error(fault)
		}
		if len(r.counted) == 0 {
			t.Error("no message was validated")
		}
		t.Log("validated messages:", r.counted)
	})
	return r
}

// A wire is one conversation: a pipe, a legacy HTTP session or a modern POST.
type wire struct {
	r        *record
	revision string // of the legacy session, once there is one
	asked    map[string]question
	progress map[string]string // revisions by token
}

// A question is a request of the client.
type question struct {
	method, revision string
	dups             int // requests with the same id, sent before the answer and to be refused
}

func (r *record) wire() *wire {
	return &wire{r: r, asked: map[string]question{}, progress: map[string]string{}}
}

// client notes what the client sent.
func (w *wire) client(msg []byte) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	var all []json.RawMessage
	if json.Unmarshal(msg, &all) != nil {
		all = []json.RawMessage{msg}
	}
	for _, msg := range all {
		m, err := parse(msg)
		if err == nil && m.Method == "notifications/cancelled" {
			delete(w.asked, string(m.Params.RequestID))
		}
		if err != nil || m.Method == "" || m.ID == nil {
			continue
		}
		if q, dup := w.asked[string(m.ID)]; dup {
			q.dups++
			w.asked[string(m.ID)] = q
			continue
		}
		revision := w.revision
		if revision == "" {
			revision = r2511 // what there is before a session, is said in the words of the newest
		}
		var claim string
		if json.Unmarshal(m.Params.Meta[metaVersion], &claim) == nil && claim != "" {
			revision = claim
		}
		w.asked[string(m.ID)] = question{method: m.Method, revision: revision}
		if token := m.Params.Meta["progressToken"]; token != nil {
			w.progress[string(token)] = revision
		}
	}
}

// host validates what the host said.
func (w *wire) host(msg []byte) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	var all []json.RawMessage
	if json.Unmarshal(msg, &all) == nil {
		if w.revision != r2503 {
			w.r.faultLocked("a batch in a session of revision %q: %s", w.revision, msg)
		}
	} else {
		all = []json.RawMessage{msg}
	}
	if bytes.ContainsAny(msg, "\r\n") {
		w.r.faultLocked("a message of more than one line: %s", msg)
	}
	for _, msg := range all {
		w.oneLocked(msg)
	}
}

func (w *wire) oneLocked(msg []byte) {
	m, err := parse(msg)
	if err != nil {
		w.r.faultLocked("not a message: %v: %s", err, msg)
		return
	}
	q := w.placeLocked(&m)
	if !slices.Contains(legacyRevisions, q.revision) {
		q.revision = r2026 // also what is said of a revision that there is not
	}
	w.r.counted[q.revision]++
	if err := check(q.revision, q.method, msg); err != nil {
		w.r.faultLocked("%s, %q: %v\n%s", q.revision, q.method, err, msg)
	}
}

// placeLocked returns the revision that m belongs to, and the method that it answers.
func (w *wire) placeLocked(m *message) question {
	session := question{revision: w.revision}
	switch {
	case m.Method == "" && m.ID != nil:
		q := w.asked[string(m.ID)]
		if m.Error != nil && m.Error.Code == -32600 && q.dups > 0 {
			refused := q
			refused.dups--
			w.asked[string(m.ID)] = refused
		} else {
			delete(w.asked, string(m.ID))
		}
		if q.method == "initialize" && m.Result != nil {
			var r struct{ ProtocolVersion string }
			if json.Unmarshal(m.Result, &r) == nil {
				w.revision = r.ProtocolVersion
				q.revision = r.ProtocolVersion
			}
		}
		return q
	case m.Params.Meta[metaSubscription] != nil:
		return question{revision: r2026}
	case m.Params.ProgressToken != nil:
		return question{revision: w.progress[string(m.Params.ProgressToken)]}
	}
	return session
}

func (r *record) faultLocked(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}
