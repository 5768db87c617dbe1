"""Through the real host, in its sandbox."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE

from mcphost.testing import sandbox_files

LAB = HERE / "plugins" / "lab.py"


class Client:
    """An MCP client of one host process, over stdio."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.id = 0
        self.seen: list[Any] = []  # notifications
        self.answers: list[Any] = []  # to what the host asks

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, params: Any = None) -> Any:
        self.id += 1
        self.send({"id": self.id, "method": method, "params": params or {}})
        assert self.process.stdout
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("method") and "id" in message:
                self.seen.append(message)
                self.send({"id": message["id"], "result": self.answers.pop(0)})
            elif message.get("method"):
                self.seen.append(message)
            elif message.get("id") == self.id:
                return message["result"] if "result" in message else message["error"]
        raise AssertionError("the host ended")

    def call(self, name: str, meta: Any = None, **arguments: Any) -> Any:
        return self.request("tools/call", {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})})


@contextmanager
def serve(binary: Path, folder: Path, block: str = "", script: Path = LAB) -> Iterator[Client]:
    config = folder / "config.hcl"
    config.write_text(
        f'plugin "lab" {{\n  command = {json.dumps([sys.executable, str(script)])}\n  files = {json.dumps(sandbox_files(script))}\n{block}\n}}\n'
        'local "lab" { plugins = ["lab"] }\n'
    )
    log = (folder / "log").open("wb")
    process = subprocess.Popen([binary, "-c", config, "start", "lab"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
    client = Client(process)
    try:
        client.request(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "test", "version": "1"}},
        )
        client.send({"method": "notifications/initialized"})
        yield client
        assert process.stdin
        process.stdin.close()
        assert process.wait(60) == 0
    except BaseException:
        print((folder / "log").read_text())
        raise
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, log):
            if stream:
                stream.close()


@pytest.mark.parametrize("block", ["", "  mtls = true"], ids=["plain", "mtls"])
def test_a_tool_in_the_sandbox(mcphost_binary: Path, tmp_path: Path, block: str) -> None:
    with serve(mcphost_binary, tmp_path, block) as c:
        tools = {t["name"]: t for t in c.request("tools/list")["tools"]}
        assert tools["echo"]["description"] == "Says the same." and tools["echo"]["annotations"]["readOnlyHint"]
        assert tools["echo"]["inputSchema"]["required"] == ["text"] and tools["echo"]["outputSchema"]["type"] == "object"
        text = "ü😀\u2028" * 1000
        for name in ("echo", "echo_async"):
            result = c.call(name, text=text)
            assert result["structuredContent"] == {"text": text}
            assert json.loads(result["content"][0]["text"]) == {"text": text}
        assert c.call("peek", path="/etc/shadow")["content"][0]["text"] in ("FileNotFoundError", "PermissionError")
        assert c.call("keep")["content"][0]["text"] == "x"
        assert c.call("chatty")["content"][0]["text"] == "None"
        failed = c.call("fail")
        assert failed["isError"] and "hunter2" not in failed["content"][0]["text"]
        assert c.request("resources/read", {"uri": "lab://moon"})["contents"][0]["text"] == "this is moon"
        assert c.request("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}})["messages"][0]["content"]["text"] == "Greet Ada."
    assert "hunter2" in (tmp_path / "log").read_text()
    assert "missing" not in (tmp_path / "log").read_text()


def test_questions_and_progress_reach_the_client(mcphost_binary: Path, tmp_path: Path) -> None:
    with serve(mcphost_binary, tmp_path) as c:
        c.answers = [{"action": "accept", "content": {"name": "Ada"}}, {"action": "decline"}]
        assert c.call("ask", meta={"progressToken": "t"})["content"][0]["text"] == "Hello, Ada!"
        assert [m["method"] for m in c.seen][:2] == ["notifications/progress", "elicitation/create"]
        assert c.seen[1]["params"]["requestedSchema"]["required"] == ["name"]
        assert c.call("ask")["content"][0]["text"] == "Hello, nobody!"


def test_tools_come_while_running(mcphost_binary: Path, tmp_path: Path) -> None:
    with serve(mcphost_binary, tmp_path) as c:
        c.call("grow")
        for _ in range(200):  # bounded; the change travels on a stream of its own
            if any(m["method"] == "notifications/tools/list_changed" for m in c.seen):
                break
            c.request("ping")
        assert any(m["method"] == "notifications/tools/list_changed" for m in c.seen)
        assert c.call("grown")["content"][0]["text"] == "new"


def test_fifty_calls_at_once_fit_into_the_default_memory(mcphost_binary: Path, tmp_path: Path) -> None:
    with serve(mcphost_binary, tmp_path) as c:
        for i in range(50):
            c.send({"id": f"c{i}", "method": "tools/call", "params": {"name": "echo_async", "arguments": {"text": "x" * 100_000}}})
        assert c.process.stdout
        got = [json.loads(c.process.stdout.readline()) for _ in range(50)]
        assert all(len(m["result"]["structuredContent"]["text"]) == 100_000 for m in got)
        assert c.call("echo", text="x")["structuredContent"] == {"text": "x"}
