package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/mcphost/mcphost/sdk"
)

// Bounds of one read: what is encoded as JSON or base64 stays below 4 MiB.
const (
	maxText   = 512 << 10
	maxBinary = 2 << 20
	maxLines  = 2000
	sniffed   = 8 << 10
)

type readIn struct {
	Path   string `json:"path" jsonschema:"path of the file"`
	Line   int64  `json:"line,omitempty" minimum:"1" jsonschema:"first line to read, from 1"`
	Lines  int    `json:"lines,omitempty" minimum:"1" maximum:"2000" jsonschema:"how many lines; 2000 if not given"`
	Offset int64  `json:"offset,omitempty" minimum:"0" jsonschema:"first byte to read, from 0, in place of lines"`
	Bytes  int64  `json:"bytes,omitempty" minimum:"1" maximum:"2097152" jsonschema:"how many bytes, in place of lines"`
}

// read answers with the text itself, or a block of the file's type, and a note where something is left.
func (t *tree) read(ctx context.Context, _ *sdk.Call, in readIn) (content []sdk.Content, err error) {
	if in.Line < 0 || in.Lines < 0 || in.Offset < 0 || in.Bytes < 0 {
		return nil, errors.New("line, lines, offset and bytes are not negative")
	}
	if (in.Line > 0 || in.Lines > 0) && (in.Offset > 0 || in.Bytes > 0) {
		return nil, errors.New("read by lines or by bytes, not both")
	}
	p, below, err := t.locate(in.Path)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, fmt.Errorf("%q is a folder, not a file", in.Path)
	}
	f, info, err := p.openFile(below)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head, err := readAt(f, 0, sniffed)
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", in.Path, cause(err))
	}
	about := file{uri: uriOf(p.shown(below)), size: info.Size(), text: isText(head), mime: mimeType(below, head)}
	switch {
	case in.Offset > 0 || in.Bytes > 0:
		return readBytes(f, about, in)
	case about.text:
		return readLines(ctx, f, in)
	case in.Line > 0 || in.Lines > 0:
		return nil, fmt.Errorf("%q is %s, not text; read it by bytes", in.Path, about.mime)
	case info.Size() > maxBinary:
		return nil, fmt.Errorf("%q is %s of %d bytes; read it by ranges of up to %d bytes", in.Path, about.mime, info.Size(), maxBinary)
	}
	return readBytes(f, about, readIn{Path: in.Path, Bytes: maxBinary})
}

// file is what is known about an open file.
type file struct {
	uri, mime string
	size      int64
	text      bool
}

func uriOf(shown string) string { return (&url.URL{Scheme: "file", Path: "/" + shown}).String() }

// readAt returns up to n bytes from an offset; fewer only at the end of the file.
func readAt(f *os.File, offset, n int64) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(f, offset, n))
}

// readBytes answers with a range of bytes: as text if they are, or else as a block of the file's type.
func readBytes(f *os.File, about file, in readIn) ([]sdk.Content, error) {
	want := in.Bytes
	if want == 0 {
		want = maxBinary
	}
	if about.text {
		want = min(want, maxText)
	}
	data, err := readAt(f, in.Offset, min(want, maxBinary))
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", in.Path, cause(err))
	}
	end := in.Offset + int64(len(data))
	note := sdk.Text(fmt.Sprintf("[bytes %d to %d of %d]", in.Offset, end, about.size))
	whole := in.Offset == 0 && end >= about.size
	switch {
	case about.text && isText(data):
		return []sdk.Content{sdk.Text(data), note}, nil
	case whole && strings.HasPrefix(about.mime, "image/"):
		return []sdk.Content{sdk.Image{Data: data, MIMEType: about.mime}}, nil
	case whole && strings.HasPrefix(about.mime, "audio/"):
		return []sdk.Content{sdk.Audio{Data: data, MIMEType: about.mime}}, nil
	case whole:
		return []sdk.Content{sdk.EmbeddedResource{URI: about.uri, MIMEType: about.mime, Blob: data}}, nil
	}
	return []sdk.Content{sdk.EmbeddedResource{URI: about.uri, MIMEType: "application/octet-stream", Blob: data}, note}, nil
}

// readLines answers with a range of lines.
func readLines(ctx context.Context, f io.Reader, in readIn) ([]sdk.Content, error) {
	first, count := max(in.Line, 1), min(in.Lines, maxLines)
	if count == 0 {
		count = maxLines
	}
	r := bufio.NewReaderSize(f, 64<<10)
	if err := skipLines(ctx, r, first-1); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%q has fewer than %d lines", in.Path, first)
	} else if err != nil {
		return nil, fmt.Errorf("reading %q: %w", in.Path, cause(err))
	}
	var text bytes.Buffer
	read, more := int64(0), false
	for read < int64(count) {
		piece, err := r.ReadSlice('\n')
		if room := maxText - text.Len(); len(piece) > room {
			text.Write(piece[:room])
			note := fmt.Sprintf("[cut in line %d after %d bytes; go on by bytes]", first+read, maxText)
			return []sdk.Content{sdk.Text(text.String()), sdk.Text(note)}, nil
		}
		text.Write(piece)
		if err == nil {
			read++
			continue
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading %q: %w", in.Path, cause(err))
		}
		break
	}
	if read == int64(count) {
		_, err := r.Peek(1)
		more = err == nil
	}
	content := []sdk.Content{sdk.Text(text.String())}
	if more {
		content = append(content, sdk.Text(fmt.Sprintf("[lines %d to %d; there are more, go on with line %d]", first, first+read-1, first+read)))
	}
	return content, nil
}

// skipLines reads past n lines. It returns io.EOF where there are not more than that.
func skipLines(ctx context.Context, r *bufio.Reader, n int64) error {
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("the line is too far down, read by bytes: %w", err)
		}
		_, err := r.ReadSlice('\n')
		if err == nil {
			if n--; n == 0 {
				_, err = r.Peek(1)
				return err
			}
			continue
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	return nil
}

// isText reports whether data, which may be cut at both ends, is text: UTF-8 without NUL.
func isText(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return false
	}
	for range utf8.UTFMax - 1 {
		if len(data) > 0 && !utf8.RuneStart(data[0]) {
			data = data[1:]
		}
	}
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			return !utf8.FullRune(data)
		}
		data = data[size:]
	}
	return true
}

// resource reads a whole file as a resource.
func (t *tree) resource(_ context.Context, _ *sdk.Call, r sdk.Read) (result *sdk.ReadResult, err error) {
	p, below, err := t.locate(r.Vars["path"])
	if errors.Is(err, errOutside) || (err == nil && p == nil) {
		return nil, sdk.NotFound(r.URI)
	}
	if err != nil {
		return nil, err
	}
	f, info, err := p.openFile(below)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info.Size() > maxBinary {
		return nil, fmt.Errorf("the file has %d bytes, a resource at most %d; read it by ranges with the tool", info.Size(), maxBinary)
	}
	data, err := readAt(f, 0, maxBinary)
	if err != nil {
		return nil, fmt.Errorf("reading: %w", cause(err))
	}
	r.MIMEType = mimeType(below, data)
	if len(data) <= maxText && isText(data) {
		return r.Text(string(data)), nil
	}
	return r.Blob(data), nil
}
