package modern

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/mcphost/mcphost/host/jsonrpc"
	"github.com/mcphost/mcphost/host/primitive"
	"github.com/mcphost/mcphost/host/seal"
)

// statePurpose keeps request states apart from other sealed tokens.
const statePurpose = "state"

// stateLife is how long a state is good for if the plugin does not say.
const stateLife = time.Hour

// A state is what travels through the client between two rounds, sealed. It is
// bound to the principal, the endpoint, the method, the primitive and its
// arguments; the seal holds the expiry.
type state struct {
	callID    string
	round     int
	expires   time.Time
	singleUse bool
	plugin    []byte // the plugin's own bytes
	hasPlugin bool
}

var errState = errors.New("malformed state")

// The flags of an encoded state.
const (
	flagPlugin = 1 << iota
	flagSingleUse
)

// encode returns s as: flags, round, expiry, length of the call id, call id, the plugin's bytes.
func (s *state) encode() []byte {
	var flags byte
	if s.hasPlugin {
		flags |= flagPlugin
	}
	if s.singleUse {
		flags |= flagSingleUse
	}
	b := []byte{flags}
	b = binary.AppendUvarint(b, uint64(s.round))
	b = binary.AppendVarint(b, s.expires.Unix())
	b = binary.AppendUvarint(b, uint64(len(s.callID)))
	b = append(b, s.callID...)
	return append(b, s.plugin...)
}

// decodeState reads what encode wrote.
func decodeState(b []byte) (*state, error) {
	if len(b) == 0 {
		return nil, errState
	}
	s := &state{hasPlugin: b[0]&flagPlugin != 0, singleUse: b[0]&flagSingleUse != 0}
	b = b[1:]
	round, n := binary.Uvarint(b)
	if n <= 0 || round > 1<<20 {
		return nil, errState
	}
	s.round, b = int(round), b[n:]
	expires, n := binary.Varint(b)
	if n <= 0 {
		return nil, errState
	}
	s.expires, b = time.Unix(expires, 0), b[n:]
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, errState
	}
	s.callID, b = string(b[n:n+int(size)]), b[n+int(size):]
	if s.hasPlugin {
		s.plugin = b
	}
	return s, nil
}

// stateBinding is what a state is bound to besides its expiry (patterns/mrtr:
// principal, method and a digest of the salient params).
func (r *request) stateBinding() []byte {
	p := &r.Caller.Principal
	var args []byte
	if raw := r.Params.Arguments; raw != nil {
		args = jsonrpc.AppendCanonical(nil, raw)
	}
	return seal.Binding([]byte(p.Issuer), []byte(p.Subject), []byte(r.Endpoint.Transport), []byte(r.Endpoint.Name),
		[]byte(r.Message.Method), []byte(r.name), args)
}

// sealState returns the requestState for the next round of u.
func (r *request) sealState(u *primitive.Use, need *primitive.InputRequired) string {
	life := stateLife
	if need.ExpiresAfter > 0 {
		life = min(need.ExpiresAfter, 24*time.Hour)
	}
	s := state{
		callID: u.CallID, round: u.Round + 1, expires: time.Now().Add(life),
		singleUse: need.SingleUse, plugin: need.State, hasPlugin: need.State != nil,
	}
	return r.Endpoint.Sealer.Seal(statePurpose, r.stateBinding(), s.encode(), s.expires)
}

// openState fills in what the client brings back from the round before. A
// state that does not verify is refused: neither asked for again nor ignored.
func (r *request) openState(u *primitive.Use) *fault {
	if in := r.Params.InputResponses; in != nil {
		if !jsonrpc.IsObject(in) {
			return faultf(200, jsonrpc.InvalidParams, "params.inputResponses must be an object")
		}
		u.Inputs = make(map[string][]byte)
		jsonrpc.Members(in, func(k, v []byte) bool {
			if jsonrpc.IsObject(v) { // anything else is no answer, and the plugin asks again
				u.Inputs[string(k)] = v
			}
			return true
		})
	}
	if r.Params.RequestState == nil {
		return nil
	}
	refused := faultf(200, jsonrpc.InvalidParams, "params.requestState is not one of this request, or has expired")
	token, ok := jsonrpc.String(r.Params.RequestState)
	if !ok {
		return refused
	}
	plain, ok := r.Endpoint.Sealer.Open(statePurpose, r.stateBinding(), token)
	if !ok {
		return refused
	}
	s, err := decodeState(plain)
	if err != nil || s.singleUse && !r.Endpoint.Sealer.Spend(token, s.expires) {
		return refused
	}
	u.CallID, u.Round = s.callID, s.round
	if s.hasPlugin {
		u.State = append([]byte{}, s.plugin...)
	}
	return nil
}
