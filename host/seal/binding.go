package seal

import (
	"crypto/sha256"
	"encoding/binary"
)

// Binding digests parts into a binding for Seal and Open. Where a part ends
// counts: ("ab", "c") and ("a", "bc") differ, and so do nil and a missing part.
func Binding(parts ...[]byte) []byte {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write(p)
	}
	return h.Sum(nil)
}
