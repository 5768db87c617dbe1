package sdk_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pluginv1 "github.com/mcphost/mcphost/proto/mcphost/plugin/v1"
	"github.com/mcphost/mcphost/sdk"
)

// processPlugin is what the test binary serves as a plugin.
func processPlugin() *sdk.Plugin {
	before := os.Stdout // as a logger keeps it that was made before Main
	p := sdk.New("noisy one", "0.1.0", sdk.WithExample("config { root = \"/\" }\nstart = \"lazy\""))
	sdk.AddTool(p, sdk.Tool{Name: "noise", Description: "Prints.\nA lot."}, func(context.Context, *sdk.Call, struct{}) (string, error) {
		for range 3000 {
			fmt.Println("out", strings.Repeat("o", 500))
			fmt.Fprintln(before, "before", strings.Repeat("b", 500))
			fmt.Fprintln(os.Stderr, "err", strings.Repeat("e", 500))
		}
		child := exec.Command("sh", "-c", "echo from a child")
		child.Stdout = os.Stdout
		return "done", child.Run()
	})
	sdk.AddTool(p, sdk.Tool{Name: "length"}, func(_ context.Context, _ *sdk.Call, in struct {
		Text string `json:"text"`
	},
	) (int, error) {
		return len(in.Text), nil
	})
	sdk.Configure[struct {
		Root string `json:"root,omitempty" jsonschema:"the folder"`
	}](p, nil)
	return p
}

// dyingParent starts a plugin, waits for its handshake and ends without a word to it.
func dyingParent() {
	cmd := pluginCommand(context.Background())
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	cmd.Stderr = os.Stdout // the test reads it, and sees the end when both of us are gone
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		panic(err)
	}
	fmt.Print(line)
}

func pluginCommand(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), "SDK_TEST_ROLE=plugin", pluginv1.MagicCookieKey+"="+pluginv1.MagicCookieValue, "PLUGIN_PROTOCOL_VERSIONS=1")
	return cmd
}

func TestPrintIsHarmlessEvenIfNobodyReadsStdout(t *testing.T) {
	dir := t.TempDir()
	cmd := pluginCommand(t.Context())
	cmd.Env = append(cmd.Env, "PLUGIN_UNIX_SOCKET_DIR="+dir)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log := &lockedBuffer{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("handshake %q: %v", line, err)
	}
	fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
	if len(fields) != 6 || fields[0] != "1" || fields[1] != "1" || fields[2] != "unix" || !strings.HasPrefix(fields[3], dir+"/") || fields[4] != "grpc" || fields[5] != "" {
		t.Fatalf("handshake = %q", line)
	}
	connection, err := grpc.NewClient("unix:"+fields[3], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	client := pluginv1.NewPluginServiceClient(connection)
	if _, err := client.Configure(t.Context(), &pluginv1.ConfigureRequest{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	got, err := client.CallTool(ctx, &pluginv1.CallToolRequest{Name: "noise"})
	if err != nil || got.GetResult().GetContent()[0].GetText() != "done" {
		t.Errorf("call = %v, %v", got, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil { // of the terminal: not for us
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
	for _, want := range []string{"out o", "before b", "err e", "from a child"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not on stderr", want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left in the socket folder: %v, %v", left, err)
	}
}

func TestGoPluginsOwnClientWithAndWithoutTLS(t *testing.T) {
	for name, mutual := range map[string]bool{"plain": false, "mTLS": true} {
		t.Run(name, func(t *testing.T) {
			client := plugin.NewClient(&plugin.ClientConfig{
				HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: pluginv1.MagicCookieKey, MagicCookieValue: pluginv1.MagicCookieValue},
				VersionedPlugins: map[int]plugin.PluginSet{pluginv1.ProtocolVersion: {pluginv1.PluginName: hostSide{}}},
				Cmd:              pluginCommand(t.Context()), AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC}, AutoMTLS: mutual,
				Logger:          hclog.NewNullLogger(),
				GRPCDialOptions: []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(pluginv1.MaxMessageToPlugin))},
			})
			defer client.Kill()
			protocol, err := client.Client()
			if err != nil {
				t.Fatal(err)
			}
			raw, err := protocol.Dispense(pluginv1.PluginName)
			if err != nil {
				t.Fatal(err)
			}
			service := raw.(pluginv1.PluginServiceClient)
			about, err := service.Describe(t.Context(), &pluginv1.DescribeRequest{})
			if err != nil || about.GetName() != "noisy one" {
				t.Fatalf("describe = %v, %v", about, err)
			}
			if err := protocol.Ping(); err != nil {
				t.Errorf("health: %v", err)
			}
			if _, err := service.Configure(t.Context(), &pluginv1.ConfigureRequest{}); err != nil {
				t.Fatal(err)
			}
			got, err := service.CallTool(t.Context(), &pluginv1.CallToolRequest{
				Name: "length", ArgumentsJson: []byte(`{"text":"` + strings.Repeat("x", 8<<20) + `"}`),
			})
			if err != nil || string(got.GetResult().GetStructuredJson()) != "8388608" {
				t.Errorf("8 MiB of arguments: %v, %v", got, err)
			}
			client.Kill()
			if !client.Exited() {
				t.Error("the plugin did not exit")
			}
		})
	}
}

// hostSide is the client half for go-plugin.
type hostSide struct{ plugin.NetRPCUnsupportedPlugin }

func (hostSide) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return errors.New("no server") }

func (hostSide) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return pluginv1.NewPluginServiceClient(c), nil
}

func TestThePluginEndsWithItsParent(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "SDK_TEST_ROLE=parent")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out) // ends when parent and plugin are gone
	if err != nil || !strings.HasPrefix(string(text), "1|1|unix|") {
		t.Errorf("output = %q, %v", text, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestStartedByHandItSaysWhatToTypeInstead(t *testing.T) {
	run := func(args ...string) (stdout, stderr string, code int) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), "SDK_TEST_ROLE=plugin")
		var out, err strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &err
		if e := cmd.Run(); e != nil && cmd.ProcessState == nil {
			t.Fatal(e)
		}
		return out.String(), err.String(), cmd.ProcessState.ExitCode()
	}
	stdout, stderr, code := run()
	if code != 1 || stdout != "" {
		t.Errorf("exit %d, stdout %q, want 1 and nothing", code, stdout)
	}
	for _, want := range []string{"noisy one 0.1.0 is a plugin", "noise   Prints.\n", "local \"noisy-one\" {", "command = [\"/", "    config { root = \"/\" }\n    start = \"lazy\"\n  }", "mcphost start noisy-one"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr lacks %q:\n%s", want, stderr)
		}
	}
	help, stderr, code := run("--help")
	if code != 0 || stderr != "" || !strings.Contains(help, "is a plugin") {
		t.Errorf("--help: exit %d, stdout %q, stderr %q", code, help, stderr)
	}
	if version, _, code := run("--version"); code != 0 || version != "noisy one 0.1.0\n" {
		t.Errorf("--version: exit %d, %q", code, version)
	}
}
