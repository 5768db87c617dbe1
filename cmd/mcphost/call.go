package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphost/mcphost/host"
)

func newCall(g *globals) *cobra.Command {
	var asJSON bool
	var arguments string
	c := &cobra.Command{
		Use:   "call HANDLE [TOOL [NAME=VALUE…]]",
		Short: "Call one tool of a local block, on the path of any client",
		Long: `Call TOOL of the local block HANDLE, on the same path as any client's call, and
print what it gives back. Without TOOL, list the tools.

NAME=VALUE gives an argument: a string where the tool wants one, JSON otherwise.
NAME:=VALUE is JSON in any case. --args gives all arguments as one JSON object;
--args - reads it from stdin. The exit status is 1 if the tool failed.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 1 {
				return usageError{fmt.Errorf("usage: %s", c.UseLine())}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			g.quiet = true
			cfg, err := g.load()
			if err != nil {
				return err
			}
			l, err := local(cfg, args[0])
			if err != nil {
				return err
			}
			return g.withHost(c.Context(), cfg, host.Scope{Local: l.Handle}, func(h *host.Host) error {
				client := h.Client(l)
				if len(args) == 1 {
					return printTools(client.Tools(c.Context()), asJSON)
				}
				return call(c, client, args[1], args[2:], arguments, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write the whole result as JSON")
	c.Flags().StringVar(&arguments, "args", "", "all arguments as one `JSON` object; - reads stdin")
	return c
}

func printTools(tools []host.ToolInfo, asJSON bool) error {
	if asJSON {
		all := make([]json.RawMessage, len(tools))
		for i, t := range tools {
			all[i] = t.Definition
		}
		return writeJSON(os.Stdout, all)
	}
	for _, t := range tools {
		text, _, _ := strings.Cut(t.Description, "\n")
		if _, err := fmt.Fprintf(os.Stdout, "%-24s %s\n", t.Name, text); err != nil {
			return err
		}
	}
	return nil
}

func call(c *cobra.Command, client *host.Client, tool string, pairs []string, whole string, asJSON bool) error {
	args, err := callArguments(c, client, tool, pairs, whole)
	if err != nil {
		return usageError{err}
	}
	result, err := client.CallTool(c.Context(), tool, args, func(method string, params []byte) {
		fmt.Fprintf(os.Stderr, "%s %s\n", strings.TrimPrefix(method, "notifications/"), params)
	})
	if err != nil {
		return fmt.Errorf("calling %q: %w", tool, err)
	}
	var r toolResult
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	if asJSON {
		if err := writeJSON(os.Stdout, json.RawMessage(result)); err != nil {
			return err
		}
	} else if err := r.print(os.Stdout, os.Stderr); err != nil {
		return err
	}
	if r.IsError {
		return exitError(1)
	}
	return nil
}

// callArguments returns the arguments that the command line gives, as a JSON object.
func callArguments(c *cobra.Command, client *host.Client, tool string, pairs []string, whole string) ([]byte, error) {
	if whole == "" {
		return client.Arguments(c.Context(), tool, pairs)
	}
	if len(pairs) > 0 {
		return nil, errors.New("--args and NAME=VALUE exclude each other")
	}
	text := []byte(whole)
	if whole == "-" {
		var err error
		if text, err = io.ReadAll(os.Stdin); err != nil {
			return nil, fmt.Errorf("reading arguments: %w", err)
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return nil, errors.New("--args is not a JSON object")
	}
	return text, nil
}

// A toolResult is what is printed of a result.
type toolResult struct {
	ResultType string `json:"resultType"`
	IsError    bool   `json:"isError"`
	Content    []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		MIMEType string `json:"mimeType"`
		URI      string `json:"uri"`
		Data     string `json:"data"`
		Resource struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
			Blob string `json:"blob"`
		} `json:"resource"`
	} `json:"content"`
}

// print writes text to out, and what is no text as a note to notes.
func (r *toolResult) print(out, notes io.Writer) error {
	if r.ResultType == "input_required" {
		_, err := fmt.Fprintln(notes, "the tool asks for input, which this command cannot give; --json shows what")
		return err
	}
	for _, b := range r.Content {
		var err error
		switch {
		case b.Type == "text":
			_, err = fmt.Fprintln(out, strings.TrimSuffix(b.Text, "\n"))
		case b.Type == "resource" && b.Resource.Text != "":
			_, err = fmt.Fprintln(out, strings.TrimSuffix(b.Resource.Text, "\n"))
		case b.Type == "resource":
			_, err = fmt.Fprintf(notes, "[resource %s, %d bytes of base64; --json shows them]\n", b.Resource.URI, len(b.Resource.Blob))
		case b.Type == "resource_link":
			_, err = fmt.Fprintln(out, b.URI)
		default:
			_, err = fmt.Fprintf(notes, "[%s %s, %d bytes of base64; --json shows them]\n", b.Type, b.MIMEType, len(b.Data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
