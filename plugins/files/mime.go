package main

import (
	"bytes"
	"path"
	"strings"
)

// extensions are types by extension. A table of our own: what the system knows differs, and a sandbox does not see it.
var extensions = map[string]string{
	".txt": "text/plain", ".log": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".html": "text/html", ".htm": "text/html",
	".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".xml": "application/xml", ".yaml": "application/yaml",
	".yml": "application/yaml", ".toml": "application/toml", ".svg": "image/svg+xml", ".ics": "text/calendar",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".bmp": "image/bmp",
	".tif": "image/tiff", ".tiff": "image/tiff", ".heic": "image/heic", ".avif": "image/avif", ".ico": "image/x-icon",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".flac": "audio/flac", ".m4a": "audio/mp4",
	".mp4": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime", ".mkv": "video/x-matroska",
	".pdf": "application/pdf", ".zip": "application/zip", ".gz": "application/gzip", ".tar": "application/x-tar", ".wasm": "application/wasm",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".epub": "application/epub+zip", ".sqlite": "application/vnd.sqlite3", ".db": "application/vnd.sqlite3",
}

// magics are types by the first bytes, which win over the name where a picture claims to be another.
var magics = []struct{ magic, mime string }{
	{"\x89PNG\r\n\x1a\n", "image/png"},
	{"\xff\xd8\xff", "image/jpeg"},
	{"GIF87a", "image/gif"},
	{"GIF89a", "image/gif"},
	{"%PDF-", "application/pdf"},
	{"ID3", "audio/mpeg"},
	{"OggS", "audio/ogg"},
	{"fLaC", "audio/flac"},
	{"\x1f\x8b", "application/gzip"},
	{"\x00asm", "application/wasm"},
	{"SQLite format 3\x00", "application/vnd.sqlite3"},
}

// mimeType returns the type of a file by its first bytes and its name.
func mimeType(name string, head []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.mime
		}
	}
	if len(head) >= 12 && string(head[:4]) == "RIFF" {
		switch string(head[8:12]) {
		case "WEBP":
			return "image/webp"
		case "WAVE":
			return "audio/wav"
		}
	}
	known := extensions[strings.ToLower(path.Ext(name))]
	text := isText(head)
	switch {
	// A picture or a sound is one that says so itself, or a client would choke on what it is shown.
	case known != "" && (!text || !binaryType(known)):
		return known
	case text:
		return "text/plain"
	}
	return "application/octet-stream"
}

func binaryType(mime string) bool {
	return mime != "image/svg+xml" && (strings.HasPrefix(mime, "image/") || strings.HasPrefix(mime, "audio/") || strings.HasPrefix(mime, "video/"))
}
