// Package seal makes tokens that clients keep for the host and cannot read,
// change or use elsewhere: list cursors and request states (MCP patterns/mrtr
// "requestState"; utilities/pagination).
//
// A token is bound to a purpose, to whatever the caller of Seal binds it to
// (a principal, a method, a digest of arguments) and to an expiry. Hosts that
// share keys open one another's tokens, so any replica can serve the next round.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// KeySize is the size of a key in bytes.
const KeySize = 32

// MaxToken bounds the length of a token that Open looks at.
const MaxToken = 1 << 20

// What is wrong with a token. A client must not learn which: to it, all of them
// are one invalid token. All wrap [ErrInvalid].
var (
	ErrInvalid = errors.New("invalid token")

	ErrMalformed = fmt.Errorf("%w: malformed", ErrInvalid)
	ErrKey       = fmt.Errorf("%w: sealed with a key that is not known", ErrInvalid)
	// ErrTampered is also what a token gets that was sealed for another purpose or binding.
	ErrTampered = fmt.Errorf("%w: changed, or of another purpose or binding", ErrInvalid)
	ErrExpired  = fmt.Errorf("%w: expired", ErrInvalid)
)

// The form of a token, in base64url without padding:
//
//	version (1) | key id (4) | nonce (12) | AES-256-GCM of: expiry, Unix ms (8) | payload
const (
	version   = 1
	idSize    = 4
	nonceSize = 12
	tagSize   = 16
	headSize  = 1 + idSize + nonceSize
	timeSize  = 8
)

var encoding = base64.RawURLEncoding.Strict()

// A Sealer seals with its first key and opens with all of them. It may be used
// concurrently.
//
// Nonces are random: one key is good for 2^32 tokens (NIST SP 800-38D, 8.3),
// that is years of a thousand a minute.
type Sealer struct {
	first *key
	byID  map[[idSize]byte][]*key
}

type key struct {
	id   [idSize]byte
	aead cipher.AEAD
}

// New returns a Sealer with the given keys. To rotate, put the new key first and
// keep the old one as long as its tokens live. Without any, it makes one that no
// other process has.
func New(keys [][]byte) (*Sealer, error) {
	if len(keys) == 0 {
		own := make([]byte, KeySize)
		rand.Read(own) // never fails
		keys = [][]byte{own}
	}
	s := &Sealer{byID: make(map[[idSize]byte][]*key)}
	for i, secret := range keys {
		k, err := newKey(secret)
		if err != nil {
			return nil, fmt.Errorf("seal key %d: %w", i+1, err)
		}
		if i == 0 {
			s.first = k
		}
		s.byID[k.id] = append(s.byID[k.id], k)
	}
	return s, nil
}

func newKey(secret []byte) (*key, error) {
	if len(secret) != KeySize {
		return nil, fmt.Errorf("has %d bytes, %d are needed", len(secret), KeySize)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	// The id tells keys apart and tells nothing of the key.
	sum := sha256.Sum256(append([]byte("mcphost seal key id\x00"), secret...))
	return &key{id: [idSize]byte(sum[:]), aead: aead}, nil
}

// Seal returns a token for payload, which opens until expires with the same
// purpose and binding. Two calls never give the same token.
func (s *Sealer) Seal(purpose string, binding, payload []byte, expires time.Time) string {
	raw := make([]byte, headSize+timeSize, headSize+timeSize+len(payload)+tagSize)
	raw[0] = version
	copy(raw[1:], s.first.id[:])
	rand.Read(raw[1+idSize : headSize]) // never fails
	binary.BigEndian.PutUint64(raw[headSize:], uint64(max(expires.UnixMilli(), 0)))
	raw = append(raw, payload...)
	sealed := s.first.aead.Seal(raw[headSize:headSize], raw[1+idSize:headSize], raw[headSize:], additional(purpose, raw[:1+idSize], binding))
	return encoding.EncodeToString(raw[:headSize+len(sealed)])
}

// Open returns the payload of token if it was sealed with one of the keys, for
// this purpose and binding, and has not expired at now. Every error wraps
// [ErrInvalid].
func (s *Sealer) Open(purpose string, binding []byte, token string, now time.Time) ([]byte, error) {
	if len(token) > MaxToken {
		return nil, ErrMalformed
	}
	raw, err := encoding.DecodeString(token)
	if err != nil || len(raw) < headSize+timeSize+tagSize || raw[0] != version || encoding.EncodedLen(len(raw)) != len(token) {
		return nil, ErrMalformed // the decoder skips line breaks, hence the length
	}
	keys := s.byID[[idSize]byte(raw[1:])]
	if len(keys) == 0 {
		return nil, ErrKey
	}
	data := additional(purpose, raw[:1+idSize], binding)
	for _, k := range keys {
		plain, err := k.aead.Open(nil, raw[1+idSize:headSize], raw[headSize:], data)
		if err != nil {
			continue
		}
		if uint64(max(now.UnixMilli(), 0)) >= binary.BigEndian.Uint64(plain) {
			return nil, ErrExpired
		}
		return plain[timeSize:], nil
	}
	return nil, ErrTampered
}

// additional is the additional data: no two of purpose, head and binding give the same.
func additional(purpose string, head, binding []byte) []byte {
	data := make([]byte, 0, 4+len(purpose)+len(head)+len(binding))
	data = binary.BigEndian.AppendUint32(data, uint32(len(purpose)))
	data = append(data, purpose...)
	data = append(data, head...) // of a fixed length
	return append(data, binding...)
}
