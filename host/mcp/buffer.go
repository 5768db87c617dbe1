package mcp

import "sync"

// A Buffer is space for one response. It belongs to whoever got it until it is
// put back.
type Buffer struct{ B []byte }

// maxPooled is the largest buffer that is kept: one large result must not hold
// its memory for ever.
const maxPooled = 256 << 10

var buffers = sync.Pool{New: func() any { return &Buffer{B: make([]byte, 0, 4<<10)} }}

// GetBuffer returns an empty buffer.
func GetBuffer() *Buffer {
	b, _ := buffers.Get().(*Buffer)
	b.B = b.B[:0]
	return b
}

// Put gives b back. Nothing may refer to its bytes any more; responders do not
// keep what they are given.
func (b *Buffer) Put() {
	if cap(b.B) <= maxPooled {
		buffers.Put(b)
	}
}
