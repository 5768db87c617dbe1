package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
	"github.com/mcphost/mcphost/sdk/sdktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const png = "\x89PNG\r\n\x1a\n\x00\x00"

// world makes a folder to serve, beside one that must not be seen, and returns both.
func world(t *testing.T) (root, outside string) {
	t.Helper()
	top := t.TempDir()
	root, outside = filepath.Join(top, "notes"), filepath.Join(top, "outside")
	for name, text := range map[string]string{
		"notes/a.txt":           "one\ntwo\nthree\n",
		"notes/empty":           "",
		"notes/no-newline.md":   "# Æ title\nlast",
		"notes/sub/b.go":        "package b\n\nfunc Two() {}\n",
		"notes/sub/deep/c.txt":  "TWO here\n",
		"notes/pic.png":         png,
		"notes/data.bin":        "\x00\x01\x02",
		"notes/fake.png":        "just text",
		"notes/.hidden/two.txt": "two",
		"outside/secret.txt":    "the two secrets",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"leaves": "../outside/secret.txt", "absolute": outside, "inside": "sub/b.go", "loop": "loop", "self": ".",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	return root, outside
}

func start(t *testing.T, root string) *sdktest.Client {
	t.Helper()
	return sdktest.Start(t, newPlugin(), sdktest.WithConfig(settings{Root: root}))
}

func TestReadText(t *testing.T) {
	root, _ := world(t)
	c := start(t, root)
	tests := map[string]struct {
		arguments map[string]any
		want      string
	}{
		"whole":             {map[string]any{"path": "a.txt"}, "one\ntwo\nthree\n"},
		"absolute":          {map[string]any{"path": filepath.Join(root, "a.txt")}, "one\ntwo\nthree\n"},
		"dots":              {map[string]any{"path": "sub/../a.txt"}, "one\ntwo\nthree\n"},
		"empty":             {map[string]any{"path": "empty"}, ""},
		"no last newline":   {map[string]any{"path": "no-newline.md", "line": 2}, "last"},
		"lines":             {map[string]any{"path": "a.txt", "line": 2, "lines": 1}, "two\n[lines 2 to 2; there are more, go on with line 3]"},
		"last lines":        {map[string]any{"path": "a.txt", "line": 3, "lines": 5}, "three\n"},
		"bytes":             {map[string]any{"path": "a.txt", "offset": 4, "bytes": 3}, "two[bytes 4 to 7 of 14]"},
		"past the end":      {map[string]any{"path": "a.txt", "offset": 99}, "[bytes 99 to 99 of 14]"},
		"link inside":       {map[string]any{"path": "inside"}, "package b\n\nfunc Two() {}\n"},
		"text with a claim": {map[string]any{"path": "fake.png"}, "just text"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := c.Call("read", test.arguments); got.IsError() || got.Text() != test.want {
				t.Errorf("got %q, want %q", got.Text(), test.want)
			}
		})
	}
}

func TestReadBinary(t *testing.T) {
	root, _ := world(t)
	c := start(t, root)
	image := c.Call("read", map[string]any{"path": "pic.png"}).GetResult().GetContent()[0].GetImage()
	if image.GetMimeType() != "image/png" || string(image.GetData()) != png {
		t.Errorf("image = %v", image)
	}
	blob := c.Call("read", map[string]any{"path": "data.bin"}).GetResult().GetContent()[0].GetResource()
	if blob.GetUri() != "file:///data.bin" || blob.GetMimeType() != "application/octet-stream" || !bytes.Equal(blob.GetBlob(), []byte{0, 1, 2}) {
		t.Errorf("blob = %v", blob)
	}
	part := c.Call("read", map[string]any{"path": "pic.png", "offset": 1, "bytes": 3})
	if got := part.GetResult().GetContent()[0].GetResource(); string(got.GetBlob()) != "PNG" || part.Text() != "[bytes 1 to 4 of 10]" {
		t.Errorf("part = %v", part)
	}
}

func TestBigFilesAreReadByRange(t *testing.T) {
	root, _ := world(t)
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(root, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("long.txt", []byte(strings.Repeat("x", 3<<20)))
	write("many.txt", []byte(strings.Repeat("line\n", 5000)))
	write("big.bin", make([]byte, 3<<20))
	c := start(t, root)
	if got := c.Call("read", map[string]any{"path": "many.txt"}).Text(); len(got) < 10_000 || !strings.HasSuffix(got, "[lines 1 to 2000; there are more, go on with line 2001]") {
		t.Errorf("many lines: %d bytes, end %q", len(got), got[len(got)-60:])
	}
	if got := c.Call("read", map[string]any{"path": "long.txt"}).Text(); len(got) > maxText+100 || !strings.HasSuffix(got, "[cut in line 1 after 524288 bytes; go on by bytes]") {
		t.Errorf("a long line: %d bytes", len(got))
	}
	if got := c.Call("read", map[string]any{"path": "big.bin"}); !got.IsError() || !strings.Contains(got.Text(), "read it by ranges") {
		t.Errorf("a big binary: %.100q", got.Text())
	}
	got := c.Call("read", map[string]any{"path": "big.bin", "offset": 1 << 20, "bytes": maxBinary}).GetResult().GetContent()[0].GetResource()
	if len(got.GetBlob()) != maxBinary {
		t.Errorf("range of a big binary: %d bytes", len(got.GetBlob()))
	}
}

func TestNothingLeavesTheRoot(t *testing.T) {
	root, outside := world(t)
	c := start(t, root)
	secret := filepath.Join(outside, "secret.txt")
	for _, path := range []string{
		"../outside/secret.txt", "..", "sub/../../outside/secret.txt", secret, "/etc/passwd", "leaves", "absolute/secret.txt", "loop",
		"a.txt/../../outside/secret.txt", "\x00", "self/leaves", root + "/../outside/secret.txt", root + "-other/x",
	} {
		for _, tool := range []string{"read", "list", "find", "search"} {
			arguments := map[string]any{"path": path}
			switch tool {
			case "find":
				arguments["pattern"] = "*"
			case "search":
				arguments["text"] = "secret"
			}
			got := c.Call(tool, arguments)
			if !got.IsError() {
				t.Errorf("%s of %q: %s", tool, path, got.Text())
			}
			if strings.Contains(got.Text(), "two secrets") {
				t.Errorf("%s of %q told the secret", tool, path)
			}
		}
		for _, uri := range []string{"file:///" + path, "file:///" + strings.ReplaceAll(path, "/", "%2F")} {
			response, err := c.ReadResource(t.Context(), &pluginv1.ReadResourceRequest{Uri: uri})
			if err == nil && response.GetError() == nil {
				t.Errorf("resource %q: %v", uri, response)
			}
		}
	}
}

func TestAFolderThatTurnsIntoALinkWhileItIsReadDoesNotLeaveTheRoot(t *testing.T) {
	root, outside := world(t)
	swap := filepath.Join(root, "swap")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // ends with ctx
		defer close(done)
		for ctx.Err() == nil {
			_ = os.Mkdir(swap, 0o755)
			_ = os.WriteFile(filepath.Join(swap, "secret.txt"), []byte("harmless"), 0o644)
			_ = os.RemoveAll(swap)
			_ = os.Symlink(outside, swap)
			_ = os.Remove(swap)
		}
	}()
	c := start(t, root)
	for range 300 {
		for tool, arguments := range map[string]map[string]any{
			"read": {"path": "swap/secret.txt"}, "search": {"text": "two secrets"}, "list": {"path": "swap"},
		} {
			if got := c.Call(tool, arguments); strings.Contains(got.Text(), "two secrets") || strings.Contains(got.Text(), `"size":15`) {
				t.Fatalf("%s told of the outside: %s", tool, got.Text())
			}
		}
	}
	cancel()
	<-done
}

func TestPipesAreNotWaitedFor(t *testing.T) {
	root, _ := world(t)
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	c := start(t, root)
	if got := c.Call("read", map[string]any{"path": "pipe"}); !got.IsError() || got.Text() != `"pipe": is no regular file` {
		t.Errorf("read = %q", got.Text())
	}
	if got := c.Call("search", map[string]any{"text": "x", "path": "pipe"}); !got.IsError() {
		t.Errorf("search = %q", got.Text())
	}
}

// paths calls a tool and returns the paths that it lists.
func paths(t *testing.T, c *sdktest.Client, tool string, arguments map[string]any) ([]string, string) {
	t.Helper()
	var out listOut
	c.Call(tool, arguments).Decode(&out)
	list := []string{}
	for _, e := range out.Entries {
		list = append(list, e.Path)
	}
	return list, out.More
}

func TestList(t *testing.T) {
	root, _ := world(t)
	c := start(t, root)
	got, more := paths(t, c, "list", map[string]any{})
	want := []string{"a.txt", "absolute", "data.bin", "empty", "fake.png", "inside", "leaves", "loop", "no-newline.md", "pic.png", "self", "sub"}
	if diff := cmp.Diff(want, got); diff != "" || more != "" {
		t.Errorf("list (-want +got), more %q:\n%s", more, diff)
	}
	got, _ = paths(t, c, "list", map[string]any{"path": "sub", "depth": 5})
	if diff := cmp.Diff([]string{"sub/b.go", "sub/deep", "sub/deep/c.txt"}, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	got, more = paths(t, c, "list", map[string]any{"limit": 2, "hidden": true})
	if diff := cmp.Diff([]string{".hidden", "a.txt"}, got); diff != "" || more != "there are more than 2" {
		t.Errorf("limited (-want +got), more %q:\n%s", more, diff)
	}
	var out listOut
	c.Call("list", map[string]any{}).Decode(&out)
	if e := out.Entries[0]; e.Kind != "file" || *e.Size != 14 || e.Modified == "" {
		t.Errorf("entry = %+v", e)
	}
	if e := out.Entries[1]; e.Kind != "link" || e.Size != nil {
		t.Errorf("entry = %+v", e)
	}
	for path, want := range map[string]string{"nowhere": `there is no "nowhere"`, "a.txt": `"a.txt": not a directory`} {
		if got := c.Call("list", map[string]any{"path": path}); !got.IsError() || got.Text() != want {
			t.Errorf("list of %s = %q, want %q", path, got.Text(), want)
		}
	}
}

func TestFind(t *testing.T) {
	root, _ := world(t)
	c := start(t, root)
	tests := map[string][]string{
		"*.TXT":           {"a.txt", "sub/deep/c.txt"},
		"sub/*":           {"sub/b.go", "sub/deep"},
		"sub/**/*.txt":    {"sub/deep/c.txt"},
		"**/*.{go,md}":    {"no-newline.md", "sub/b.go"},
		"[ab].*":          {"a.txt", "sub/b.go"},
		"[!a-z]*":         {},
		"?.go":            {"sub/b.go"},
		"a.txt.":          {},
		"./sub/deep/**":   {"sub/deep/c.txt"},
		"(no|newline)*+$": {},
	}
	for pattern, want := range tests {
		got, _ := paths(t, c, "find", map[string]any{"pattern": pattern})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
	for _, pattern := range []string{"", "[", strings.Repeat("a", 2000), "{a"} {
		if got := c.Call("find", map[string]any{"pattern": pattern}); !got.IsError() {
			t.Errorf("%.20q: %s", pattern, got.Text())
		}
	}
}

func TestSearch(t *testing.T) {
	root, _ := world(t)
	if err := os.WriteFile(filepath.Join(root, "wide.txt"), []byte(strings.Repeat("æ", 500)+"needle"+strings.Repeat("ø", 500)), 0o644); err != nil {
		t.Fatal(err)
	}
	c := start(t, root)
	tests := map[string]struct {
		arguments map[string]any
		want      []string
	}{
		"text":       {map[string]any{"text": "two"}, []string{"a.txt:2:two", "sub/b.go:3:func Two() {}", "sub/deep/c.txt:1:TWO here"}},
		"case":       {map[string]any{"text": "two", "case": true}, []string{"a.txt:2:two"}},
		"regexp":     {map[string]any{"text": `^t.*e$`, "regexp": true}, []string{"a.txt:3:three", "sub/deep/c.txt:1:TWO here"}},
		"no regexp":  {map[string]any{"text": "t.*e"}, []string{}},
		"files":      {map[string]any{"text": "two", "files": "*.go"}, []string{"sub/b.go:3:func Two() {}"}},
		"folder":     {map[string]any{"text": "two", "path": "sub/deep"}, []string{"sub/deep/c.txt:1:TWO here"}},
		"file":       {map[string]any{"text": "t", "path": "a.txt"}, []string{"a.txt:2:two", "a.txt:3:three"}},
		"hidden":     {map[string]any{"text": "two", "path": ".hidden", "hidden": true}, []string{".hidden/two.txt:1:two"}},
		"limit":      {map[string]any{"text": "t", "path": "a.txt", "limit": 1}, []string{"a.txt:2:two", "there are more than 1 hits"}},
		"last line":  {map[string]any{"text": "last"}, []string{"no-newline.md:2:last"}},
		"not binary": {map[string]any{"text": "PNG"}, []string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out searchOut
			c.Call("search", test.arguments).Decode(&out)
			got := []string{}
			for _, h := range out.Hits {
				got = append(got, fmt.Sprintf("%s:%d:%s", h.Path, h.Line, h.Text))
			}
			if out.More != "" {
				got = append(got, out.More)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("hits (-want +got):\n%s", diff)
			}
		})
	}
	var out searchOut
	c.Call("search", map[string]any{"text": "needle"}).Decode(&out)
	if text := out.Hits[0].Text; !strings.Contains(text, "needle") || len(text) > maxShown+10 || !strings.HasPrefix(text, "…æ") || !strings.HasSuffix(text, "ø…") {
		t.Errorf("excerpt = %q", text)
	}
	if got := c.Call("search", map[string]any{"text": "(", "regexp": true}); !got.IsError() {
		t.Errorf("bad regexp: %s", got.Text())
	}
}

func TestResources(t *testing.T) {
	root, _ := world(t)
	if err := os.WriteFile(filepath.Join(root, "sub", "a b.txt"), []byte("space"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := start(t, root)
	for uri, want := range map[string]string{"file:///sub/a%20b.txt": "text/plain space", "file:///no-newline.md": "text/markdown # Æ title\nlast", "file:///gone": "resource not found"} {
		response, err := c.ReadResource(t.Context(), &pluginv1.ReadResourceRequest{Uri: uri})
		if err != nil {
			t.Fatal(err)
		}
		got := response.GetError().GetMessage()
		if contents := response.GetResult().GetContents(); len(contents) == 1 {
			got = contents[0].GetMimeType() + " " + contents[0].GetText()
		}
		if got != want {
			t.Errorf("%s = %q, want %q", uri, got, want)
		}
	}
}

func TestSeveralRootsAreKnownByName(t *testing.T) {
	root, outside := world(t)
	c := sdktest.Start(t, newPlugin(), sdktest.WithConfig(settings{Roots: []string{root, outside}}))
	got, _ := paths(t, c, "list", map[string]any{})
	if diff := cmp.Diff([]string{"notes", "outside"}, got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	got, _ = paths(t, c, "find", map[string]any{"pattern": "*.txt"})
	if diff := cmp.Diff([]string{"notes/a.txt", "notes/sub/deep/c.txt", "outside/secret.txt"}, got); diff != "" {
		t.Errorf("find (-want +got):\n%s", diff)
	}
	if got := c.Call("read", map[string]any{"path": "outside/secret.txt"}).Text(); got != "the two secrets" {
		t.Errorf("read = %q", got)
	}
	for _, path := range []string{"notes/leaves", "notes/../../x", "other/a.txt", "."} {
		if got := c.Call("read", map[string]any{"path": path}); !got.IsError() {
			t.Errorf("read of %q = %q", path, got.Text())
		}
	}
}

func TestTheHostIsToldWhichStringsArePaths(t *testing.T) {
	about, err := sdktest.Connect(t, newPlugin()).Describe(t.Context(), &pluginv1.DescribeRequest{})
	if err != nil || strings.Count(string(about.GetConfigSchemaJson()), `"x-mcphost-path":true`) != 2 {
		t.Errorf("schema = %s, %v", about.GetConfigSchemaJson(), err)
	}
}

func TestConfigurationProblemsHaveAPlace(t *testing.T) {
	root, _ := world(t)
	tests := map[string]struct{ config, want string }{
		"none":     {`{}`, `: Which folder?`},
		"both":     {`{"root":"/a","roots":["/b"]}`, `: Which folder?`},
		"relative": {`{"roots":["/a","notes"]}`, `/roots/1: Relative path`},
		"twice":    {`{"roots":["/x/a","/y/a"]}`, `/roots/1: Name in use`},
		"unknown":  {`{"rot":"/a"}`, `/rot: Invalid configuration`},
		"home":     {`{"root":"~/notes"}`, ``},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := sdktest.Connect(t, newPlugin()).ValidateConfig(t.Context(), &pluginv1.ValidateConfigRequest{ConfigJson: []byte(test.config)})
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if d := got.GetDiagnostics(); len(d) > 0 {
				text = d[0].GetPointer() + ": " + d[0].GetSummary()
			}
			if text != test.want {
				t.Errorf("got %q, want %q", text, test.want)
			}
		})
	}
	got, err := sdktest.Connect(t, newPlugin()).Configure(t.Context(), &pluginv1.ConfigureRequest{ConfigJson: []byte(`{"roots":["` + root + `","/nowhere"]}`)})
	if err != nil {
		t.Fatal(err)
	}
	if d := got.GetDiagnostics(); len(d) != 1 || d[0].GetPointer() != "/roots/1" || !strings.Contains(d[0].GetDetail(), "opening /nowhere: no such file or directory") {
		t.Errorf("diagnostics = %v", d)
	}
}

func TestTheBinaryAnswersACall(t *testing.T) {
	root, _ := world(t)
	service := sdktest.Exec(t, sdktest.Build(t, "."))
	if _, err := service.Configure(t.Context(), &pluginv1.ConfigureRequest{Handle: "files", ConfigJson: []byte(`{"root":"` + root + `"}`)}); err != nil {
		t.Fatal(err)
	}
	got, err := service.CallTool(t.Context(), &pluginv1.CallToolRequest{Name: "read", ArgumentsJson: []byte(`{"path":"a.txt"}`)})
	if err != nil || got.GetResult().GetContent()[0].GetText() != "one\ntwo\nthree\n" {
		t.Errorf("call = %v, %v", got, err)
	}
}
