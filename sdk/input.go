package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
)

// Methods of input requests.
const (
	MethodElicit = "elicitation/create"
	MethodSample = "sampling/createMessage"
	MethodRoots  = "roots/list"
)

// An InputRequired is what a handler returns as its error to suspend itself by hand: the host asks the client, and
// calls again with the answers in [Call.InputResponses] and State in [Call.State]. [Elicit] does all that by itself;
// the two must not be mixed in one handler.
type InputRequired struct {
	Requests     []InputRequest // in the order to ask; keys are unique
	State        []byte         // nil: none
	ExpiresAfter time.Duration  // 0: the host's default
	SingleUse    bool           // the host accepts the state once
	Sticky       bool           // only this very process can go on
}

// An InputRequest is one question to the client or its user.
type InputRequest struct {
	Key    string
	Method string
	Params any // encoded as JSON; nil is none
}

// Error says that the call waits. No client sees it.
func (r *InputRequired) Error() string { return "input is required" }

func (r *InputRequired) toProto() (*pluginv1.InputRequired, error) {
	required := &pluginv1.InputRequired{State: r.State, SingleUse: r.SingleUse, Sticky: r.Sticky}
	if r.ExpiresAfter > 0 {
		required.ExpiresAfter = durationpb.New(r.ExpiresAfter)
	}
	for _, request := range r.Requests {
		encoded, err := request.toProto()
		if err != nil {
			return nil, err
		}
		required.Requests = append(required.Requests, encoded)
	}
	return required, nil
}

func (r InputRequest) toProto() (*pluginv1.InputRequest, error) {
	encoded := &pluginv1.InputRequest{Key: r.Key, Method: r.Method}
	if r.Params != nil {
		var err error
		if encoded.ParamsJson, err = encodeJSON(r.Params); err != nil {
			return nil, fmt.Errorf("encoding input request %q: %w", r.Key, err)
		}
	}
	return encoded, nil
}

// memory is the state of a call that suspends itself through Ask and its like: patterns/mrtr says that the client's
// answers are those of the latest round alone, so the earlier ones travel here. The host seals it.
type memory struct {
	Answers map[string]json.RawMessage `json:"answers,omitempty"`
	Done    map[string]json.RawMessage `json:"done,omitempty"` // results of Once
}

// recallLocked returns the memory of the call.
func (c *Call) recallLocked() *memory {
	if c.memory != nil {
		return c.memory
	}
	m := &memory{}
	if len(c.state) > 0 && json.Unmarshal(c.state, m) != nil {
		m = &memory{} // of a handler that keeps its state by hand
	}
	if m.Answers == nil {
		m.Answers = map[string]json.RawMessage{}
	}
	if m.Done == nil {
		m.Done = map[string]json.RawMessage{}
	}
	c.memory = m
	return m
}

// answerLocked returns what is known of a question's answer. Answers to what nobody asks are never looked at, and not kept: a
// client may send anything.
func (c *Call) answerLocked(key string) (json.RawMessage, bool) {
	if answer, ok := c.recallLocked().Answers[key]; ok {
		return answer, true
	}
	answer, ok := c.answers[key]
	return answer, ok
}

// errWaiting is what a question returns while its answer is not there.
var errWaiting error = &InputRequired{}

// ask returns the answer to a request if accept takes it, or notes the request for the next round and returns
// errWaiting. An answer that accept refuses is asked for again.
func (c *Call) ask(request InputRequest, accept func(answer json.RawMessage) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, ok := c.answerLocked(request.Key); ok {
		err := accept(answer)
		if err == nil {
			c.recallLocked().Answers[request.Key] = answer
			return nil
		}
		c.plugin.log.Debug("answer was not usable", "primitive", c.subject, "error", err)
		delete(c.recallLocked().Answers, request.Key)
	}
	encoded, err := request.toProto()
	if err != nil {
		return err
	}
	if c.input == nil {
		c.input = &pluginv1.InputRequired{}
	}
	for _, other := range c.input.GetRequests() {
		if other.GetKey() == request.Key {
			if proto.Equal(other, encoded) {
				return errWaiting
			}
			c.clash = true
			return fmt.Errorf("two different questions have the key %q", request.Key)
		}
	}
	c.input.Requests = append(c.input.Requests, encoded)
	return errWaiting
}

// asked returns the questions of this round, with the state that the next one needs, if it needs any, or nil.
func (c *Call) asked() *pluginv1.InputRequired {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.input == nil || c.clash {
		return nil
	}
	if m := c.recallLocked(); len(m.Answers)+len(m.Done) == 0 {
		return c.input
	}
	state, err := json.Marshal(c.memory)
	if err != nil {
		c.plugin.log.Error("state was not encoded", "primitive", c.subject, "error", err)
		return nil
	}
	c.input.State = state
	return c.input
}

// Ask asks the client, and decodes its answer into result, a pointer. It is the ground of [Elicit], [Call.Sample]
// and [Call.Roots], which say how it behaves.
func (c *Call) Ask(key, method string, params, result any) error {
	return c.ask(InputRequest{Key: key, Method: method, Params: params}, func(answer json.RawMessage) error {
		return json.Unmarshal(answer, result)
	})
}

// Once runs fn and keeps its result through the rounds of the call: when the handler is entered again with an answer,
// what fn did is not done twice. The result must survive JSON. An error is not kept, so fn runs again after it.
func Once[T any](c *Call, key string, fn func() (T, error)) (T, error) {
	var result T
	c.mu.Lock()
	raw, done := c.recallLocked().Done[key]
	c.mu.Unlock()
	if done {
		if err := json.Unmarshal(raw, &result); err != nil {
			return result, fmt.Errorf("decoding what step %q did: %w", key, err)
		}
		return result, nil
	}
	result, err := fn()
	if err != nil {
		return result, err
	}
	raw, err = encodeJSON(result)
	if err != nil {
		return result, fmt.Errorf("encoding what step %q did: %w", key, err)
	}
	c.mu.Lock()
	c.recallLocked().Done[key] = raw
	c.mu.Unlock()
	return result, nil
}

// IsWaiting reports whether err is the one of a question that has no answer yet.
func IsWaiting(err error) bool {
	_, ok := errors.AsType[*InputRequired](err)
	return ok
}
