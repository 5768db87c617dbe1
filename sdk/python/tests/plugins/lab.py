"""The plugin of the tests that need a process."""

print("noise before the handshake")

import os  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
from dataclasses import dataclass  # noqa: E402

import mcphost  # noqa: E402

p = mcphost.Plugin("lab", "1.0.0", max_concurrent_calls=int(os.environ.get("MAX_CALLS", "32")))


@dataclass
class Echo:
    text: str


@dataclass
class Name:
    name: str


@p.tool(read_only=True)
def echo(text: str) -> Echo:
    """Says the same."""
    return Echo(text)


@p.tool(read_only=True)
async def echo_async(text: str) -> Echo:
    return Echo(text)


@p.tool
def chatty() -> str:
    """Writes to standard output in every way there is."""
    print("x" * 200_000)
    sys.stdout.flush()
    os.write(1, b"y" * 1000 + b"\n")
    return str(os.environ.get("MCPHOST_PLUGIN"))


@p.tool
def spawn() -> int:
    """Has a child print."""
    return subprocess.run([sys.executable, "-c", "print('child')"], check=True).returncode


@p.tool
def hang() -> None:
    """Never ends, whatever happens."""
    print("hanging", file=sys.stderr, flush=True)
    threading.Event().wait()


@p.tool
def wait(ctx: mcphost.Context) -> None:
    """Waits until it is cancelled, and leaves a trace of it."""
    try:
        ctx.sleep(600)
    finally:
        p.log.warning("wait ended", extra={"cancelled": ctx.cancelled})


@p.tool
def ask(ctx: mcphost.Context) -> str:
    ctx.progress(1, 2, "asking")
    name = ctx.elicit("name", "Who are you?", Name)
    return f"Hello, {name.value.name}!" if name.accepted else "Hello, nobody!"


@p.tool
def grow() -> str:
    p.tool("grown")(lambda: "new")
    return "grown"


@p.tool
def fail() -> str:
    raise RuntimeError("the password is hunter2")


@p.tool
def peek(path: str) -> str:
    try:
        return open(path).read(100)
    except OSError as e:
        raise mcphost.ToolError(f"{type(e).__name__}") from e


@p.tool
def keep(ctx: mcphost.Context) -> str:
    """Writes into the data folder."""
    file = ctx.data_dir / "kept"
    file.write_text("x")
    return file.read_text()


@p.resource("lab://{name}")
def read(name: str) -> str:
    return f"this is {name}"


@p.prompt
def greet(name: str) -> str:
    return f"Greet {name}."


if __name__ == "__main__":
    p.main()
