//go:build linux

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// The revisions of the two lineages.
const (
	modern = "2026-07-28"
	legacy = "2025-06-18"
)

// A lane is one way to call a tool: a transport and a lineage.
type lane interface {
	// call returns how the call ended. An error means that the host broke the
	// protocol, gave another's answer, or gave none before ctx was done.
	call(ctx context.Context, c *call) (*answer, error)
}

// A call is a tool and what it is asked.
type call struct {
	tool     string
	args     string
	progress bool // wanted
}

// An answer is how a call ended.
type answer struct {
	text   string
	failed bool // an error result or a JSON-RPC error; text says which
	raw    []byte
}

// request is the message of c for a lineage. The id is the progress token, too.
func (c *call) request(id int64, revision string) []byte {
	var meta []string
	if c.progress {
		meta = append(meta, fmt.Sprintf(`"progressToken":%d`, id))
	}
	if revision == modern {
		meta = append(meta, `"io.modelcontextprotocol/protocolVersion":"`+modern+`","io.modelcontextprotocol/clientCapabilities":{}`)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{%s}}}`,
		id, c.tool, c.args, strings.Join(meta, ","))
}

func initialize(id int64) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"chaos","version":"1"}}}`, id, legacy)
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// A message is what a host sends.
type message struct {
	ID     *int64
	Method string
	Params struct {
		ProgressToken int64
		Message       string
	}
	Result *struct {
		IsError bool
		Content []struct{ Text string }
	}
	Error *struct {
		Code    int
		Message string
	}
}

// answer returns what m says of the call that it answers.
func (m *message) answer(raw []byte) (*answer, error) {
	switch {
	case m.Error != nil:
		return &answer{text: m.Error.Message, failed: true, raw: raw}, nil
	case m.Result == nil:
		return nil, fmt.Errorf("neither result nor error: %.300s", raw)
	}
	a := &answer{failed: m.Result.IsError, raw: raw}
	for _, c := range m.Result.Content {
		a.text += c.Text
	}
	return a, nil
}

// A web is a lane over HTTP.
type web struct {
	url     string
	client  *http.Client
	session string // empty on the modern lineage
	ids     atomic.Int64
}

func newWeb(url string) *web {
	return &web{url: url, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// open begins a legacy session.
func (w *web) open(ctx context.Context) error {
	_, header, err := w.post(ctx, initialize(0), nil)
	if err != nil {
		return err
	}
	if w.session = header.Get("Mcp-Session-Id"); w.session == "" {
		return errors.New("initialize gave no session")
	}
	_, _, err = w.post(ctx, []byte(initialized), nil)
	return err
}

func (w *web) call(ctx context.Context, c *call) (*answer, error) {
	id, revision := w.ids.Add(1), legacy
	var more map[string]string
	if w.session == "" {
		revision = modern
		more = map[string]string{"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": c.tool}
	}
	messages, _, err := w.post(ctx, c.request(id, revision), more)
	if err != nil {
		return nil, err
	}
	for i, raw := range messages {
		var m message
		switch err := json.Unmarshal(raw, &m); {
		case err != nil:
			return nil, fmt.Errorf("%w: %.300s", err, raw)
		case m.ID == nil && i < len(messages)-1 && m.Params.ProgressToken == id:
		case m.ID != nil && *m.ID == id && i == len(messages)-1:
			return m.answer(raw)
		default:
			return nil, fmt.Errorf("message %d of %d to call %d: %.300s", i+1, len(messages), id, raw)
		}
	}
	return nil, errors.New("a response without an answer")
}

// post returns the messages of the response.
func (w *web) post(ctx context.Context, body []byte, more map[string]string) ([][]byte, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if w.session != "" {
		r.Header.Set("Mcp-Session-Id", w.session)
		r.Header.Set("Mcp-Protocol-Version", legacy)
	}
	for name, value := range more {
		r.Header.Set(name, value)
	}
	res, err := w.client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, nil, err
	}
	switch kind := res.Header.Get("Content-Type"); {
	case len(text) == 0 && res.StatusCode == http.StatusAccepted:
		return nil, res.Header, nil
	case strings.HasPrefix(kind, "text/event-stream"):
		return events(text), res.Header, nil
	case strings.HasPrefix(kind, "application/json"):
		return [][]byte{text}, res.Header, nil
	}
	return nil, nil, fmt.Errorf("%s: %.300s", res.Status, text)
}

func events(body []byte) (list [][]byte) {
	for line := range bytes.Lines(body) {
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok && len(bytes.TrimSpace(data)) > 0 {
			list = append(list, bytes.TrimSpace(data))
		}
	}
	return list
}
