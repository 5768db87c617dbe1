"""Answers the host: the plugin as the contract sees it."""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from datetime import timedelta
from typing import Any, TypeVar

import grpc
from google.protobuf import message_factory

from . import _json
from ._catalog import Contents
from ._config import Setup, complaints, fatal, to_proto
from ._context import Context
from ._errors import INTERNAL_ERROR, INVALID_PARAMS, Diagnostic, Error, InputRequired, NotFound, ToolError
from ._handlers import positional
from ._input import request_to_proto
from ._json import valid
from ._plugin import MAX_COMPLETIONS, Plugin
from ._result import text_result
from ._words import Ref, Verdict
from .plugin.v1 import plugin_pb2 as pb

MAX_TO_PLUGIN = 64 << 20  # bytes of a message
MAX_FROM_PLUGIN = 16 << 20
MAX_EVENTS = 1024  # of a call that wait to be sent
_RESULT_ROOM = 64 << 10  # what a message to the host may take beside the result itself

T = TypeVar("T")
_KINDS: dict[int, Any] = {
    pb.PrimitiveRef.KIND_TOOL: "tool", pb.PrimitiveRef.KIND_RESOURCE: "resource",
    pb.PrimitiveRef.KIND_RESOURCE_TEMPLATE: "template", pb.PrimitiveRef.KIND_PROMPT: "prompt",
}  # fmt: skip


class Refused(Exception):
    """A gRPC status in place of a response."""

    def __init__(self, code: grpc.StatusCode, details: str) -> None:
        super().__init__(details)
        self.code = code
        self.details = details


class Failure:
    """How a handler did not succeed: with questions, or with an error, which of a tool is a text for the model."""

    def __init__(self, *, asked: pb.InputRequired | None = None, error: pb.Error | None = None, text: str | None = None) -> None:
        self.asked = asked
        self.error = error
        self.text = text


class RPC:
    """What the service needs of an RPC. It is over at the latest when its handler has returned."""

    deadline: float | None = None

    def on_over(self, callback: Callable[[], None]) -> None:
        """Has callback called when the RPC is over, or at once if it is."""


class Service:
    """The contract's methods, each a function of a request and an RPC; those with an iterator are streams."""

    def __init__(self, plugin: Plugin) -> None:
        self.plugin = plugin
        self.running = Running()
        self._configuring = threading.Lock()
        self._streams = futures.ThreadPoolExecutor(plugin._max_calls, "mcphost-stream")

    def Describe(self, request: pb.DescribeRequest, rpc: RPC) -> pb.DescribeResponse:
        return self.plugin._describe()

    def ValidateConfig(self, request: pb.ValidateConfigRequest, rpc: RPC) -> pb.ValidateConfigResponse:
        config = self.plugin._configurer()
        return pb.ValidateConfigResponse(diagnostics=to_proto(self._diagnose(lambda: config.read(request.config_json)[1])))

    def Configure(self, request: pb.ConfigureRequest, rpc: RPC) -> pb.ConfigureResponse:
        p = self.plugin
        with self._configuring:
            if p._setup is not None:
                raise Refused(grpc.StatusCode.FAILED_PRECONDITION, "the plugin is configured already")
            setup = Setup(request.handle, _path(request.data_dir), dict(request.secrets))
            diagnostics = self._diagnose(lambda: p._configurer().configure(setup, request.config_json))
            if fatal(diagnostics):
                return pb.ConfigureResponse(diagnostics=to_proto(diagnostics))
            p._setup = setup
        return pb.ConfigureResponse(diagnostics=to_proto(diagnostics), capabilities=p._capabilities())

    def _diagnose(self, check: Callable[[], list[Diagnostic]]) -> list[Diagnostic]:
        """What check returns; if it fails, that is a complaint about the whole block, which tells nothing but an incident."""
        found: list[Diagnostic] = []
        try:
            found += complaints(lambda: found.extend(check()))
        except BaseException as e:
            found.append(Diagnostic("Invalid configuration", self._incident("the configuration", e)))
        return found

    def Watch(self, request: pb.WatchRequest, rpc: RPC) -> Iterator[pb.WatchResponse]:
        catalog = self.plugin._catalog
        watcher = catalog.watch()

        def over() -> None:
            watcher.over = True
            watcher.woken.set()

        rpc.on_over(over)
        sent: Contents | None = None
        try:
            while not watcher.over:
                watcher.woken.clear()
                # Updates are taken before the catalog is looked at: a new resource is told of before its update.
                updates = catalog.take(watcher)
                now = catalog.load()
                if now is not sent:
                    for part in now.parts(self.plugin._instructions):
                        yield pb.WatchResponse(catalog=part)
                    sent = now
                for uri in updates:
                    yield pb.WatchResponse(resource_updated=pb.ResourceUpdated(uri=uri))
                watcher.woken.wait()
        finally:
            catalog.unwatch(watcher)

    def CallTool(self, request: pb.CallToolRequest, rpc: RPC) -> pb.CallToolResponse:
        return self._call_tool(request, rpc, None)

    def CallToolStream(self, request: pb.CallToolStreamRequest, rpc: RPC) -> Iterator[pb.CallToolStreamResponse]:
        self._ready()
        # Bounded: a tool that says more than the host reads waits, until nobody reads any more.
        events: queue.Queue[pb.CallToolStreamResponse | BaseException] = queue.Queue(MAX_EVENTS)
        over = threading.Event()
        rpc.on_over(over.set)

        def send(event: pb.CallToolStreamResponse | BaseException) -> None:
            while not over.is_set():
                try:
                    events.put(event, timeout=0.5)
                    return
                except queue.Full:
                    pass
            with contextlib.suppress(queue.Full):  # whoever waits must not wait for ever
                events.put_nowait(event)

        def call() -> None:
            try:
                send(pb.CallToolStreamResponse(outcome=self._call_tool(request.call, rpc, send)))
            except BaseException as e:
                send(e)

        self._streams.submit(call)
        while True:
            event = events.get()
            if isinstance(event, BaseException):
                raise event
            yield event
            if event.HasField("outcome"):
                return

    def _call_tool(self, request: pb.CallToolRequest, rpc: RPC, send: Any) -> pb.CallToolResponse:
        self._ready()
        tool = self.plugin._catalog.load().tools.get(request.name)
        if tool is None:
            return pb.CallToolResponse(error=pb.Error(code=INVALID_PARAMS, message=f'unknown tool "{valid(request.name)}"'))
        ctx = self._context(request, request.name, rpc, send)
        result, failure = self._run(ctx, f"tool {request.name}", lambda: tool.call(ctx, request.arguments_json))
        if failure is None:
            assert result is not None
            if (size := result.ByteSize()) > MAX_FROM_PLUGIN - _RESULT_ROOM:
                text = f"the result is too large: {size} bytes, {MAX_FROM_PLUGIN - _RESULT_ROOM} are allowed"
                result = text_result(text, is_error=True)
            return pb.CallToolResponse(result=result)
        if failure.asked is not None:
            return pb.CallToolResponse(input_required=failure.asked)
        if failure.text is not None:
            return pb.CallToolResponse(result=text_result(failure.text, is_error=True))
        return pb.CallToolResponse(error=failure.error)

    def ReadResource(self, request: pb.ReadResourceRequest, rpc: RPC) -> pb.ReadResourceResponse:
        self._ready()
        ctx = self._context(request, request.uri, rpc)

        def read() -> pb.ReadResourceResult:
            resource, values = self.plugin._catalog.load().find(request.uri)
            try:
                out = resource.read(ctx, request.uri, values) if resource else None
            except FileNotFoundError:
                out = None
            # server/resources: servers MUST NOT return empty contents for a resource that does not exist.
            if out is None:
                raise NotFound(request.uri)
            return out

        result, failure = self._run(ctx, f"resource {request.uri}", read)
        if failure is None:
            return pb.ReadResourceResponse(result=result)
        if failure.asked is not None:
            return pb.ReadResourceResponse(input_required=failure.asked)
        return pb.ReadResourceResponse(error=failure.error)

    def GetPrompt(self, request: pb.GetPromptRequest, rpc: RPC) -> pb.GetPromptResponse:
        self._ready()
        ctx = self._context(request, request.name, rpc)
        prompt = self.plugin._catalog.load().prompts.get(request.name)
        if prompt is None:
            return pb.GetPromptResponse(error=pb.Error(code=INVALID_PARAMS, message=f'unknown prompt "{valid(request.name)}"'))
        result, failure = self._run(ctx, f"prompt {request.name}", lambda: prompt.get(ctx, dict(request.arguments)))
        if failure is None:
            return pb.GetPromptResponse(result=result)
        if failure.asked is not None:
            return pb.GetPromptResponse(input_required=failure.asked)
        return pb.GetPromptResponse(error=failure.error)

    def Complete(self, request: pb.CompleteRequest, rpc: RPC) -> pb.CompleteResponse:
        self._ready()
        now, ref = self.plugin._catalog.load(), request.reference
        known: dict[int, dict[str, Any]] = {pb.PrimitiveRef.KIND_PROMPT: now.prompts, pb.PrimitiveRef.KIND_RESOURCE_TEMPLATE: now.templates}
        if ref.name not in known.get(ref.kind, {}):
            return pb.CompleteResponse(error=pb.Error(code=INVALID_PARAMS, message=f'unknown reference "{valid(ref.name)}"'))
        complete: Any = now.completions.get((ref.kind, ref.name, request.argument_name), lambda *_: [])
        ctx = Context(self.plugin, request.context, ref.name, deadline=rpc.deadline)
        rpc.on_over(ctx._end)
        values, failure = self._run(
            ctx, f"completion of {ref.name}", lambda: complete(ctx, request.argument_value, dict(request.context_arguments))
        )
        if failure is None:
            values = values or []
            cut = values[:MAX_COMPLETIONS]
            return pb.CompleteResponse(result=pb.Completion(values=cut, total=len(values), has_more=len(cut) < len(values)))
        if failure.error is None:
            raise Refused(grpc.StatusCode.INTERNAL, "a completion cannot ask for input")
        return pb.CompleteResponse(error=failure.error)

    def SetSubscriptions(self, request: pb.SetSubscriptionsRequest, rpc: RPC) -> pb.SetSubscriptionsResponse:
        fn = self.plugin._subscribed
        if fn is not None:
            ctx = Context(self.plugin, pb.CallContext(), "subscriptions", deadline=rpc.deadline)
            rpc.on_over(ctx._end)
            try:
                self.plugin._runner.call(ctx, fn, *positional(fn)(ctx, list(request.uris)))
            except BaseException as e:
                raise Refused(grpc.StatusCode.INTERNAL, self._incident("the subscriptions", e)) from None
        return pb.SetSubscriptionsResponse()

    def ShouldRegister(self, request: pb.ShouldRegisterRequest, rpc: RPC) -> pb.ShouldRegisterResponse:
        hook = self.plugin._register
        if hook is None:
            raise Refused(grpc.StatusCode.UNIMPLEMENTED, "the plugin has no should_register hook")
        response, keep = pb.ShouldRegisterResponse(), hook.keep
        for ref in request.primitives:
            decided, answer = self._decide(hook.fn, request.context, rpc, ref)
            response.register.append(decided and answer is True)
            keep = keep if decided else timedelta(0)
        response.cache_for.FromTimedelta(keep)
        return response

    def Authorize(self, request: pb.AuthorizeRequest, rpc: RPC) -> pb.AuthorizeResponse:
        hook = self.plugin._authorize
        if hook is None:
            raise Refused(grpc.StatusCode.UNIMPLEMENTED, "the plugin has no authorize hook")
        response, keep, arguments = pb.AuthorizeResponse(), hook.keep, None
        if request.purpose == pb.AuthorizeRequest.PURPOSE_USE:
            arguments = _json.loads(request.arguments_json or b"{}")
        for ref in request.primitives:
            decided, verdict = self._decide(hook.fn, request.context, rpc, ref, arguments)
            if not decided:
                verdict, keep = Verdict(reason="the hook failed"), timedelta(0)
            elif not isinstance(verdict, Verdict):
                verdict = Verdict(allow=verdict is True)
            response.verdicts.append(
                pb.Verdict(
                    decision=pb.Verdict.DECISION_ALLOW if verdict.allow is True else pb.Verdict.DECISION_DENY,
                    reason=valid(verdict.reason), required_scopes=verdict.required_scopes,
                )
            )  # fmt: skip
        response.cache_for.FromTimedelta(keep)
        return response

    def _decide(self, fn: Any, about: pb.CallContext, rpc: RPC, ref: pb.PrimitiveRef, *more: Any) -> tuple[bool, Any]:
        """What a hook says of one primitive, and whether it said anything."""
        ctx = Context(self.plugin, about, ref.name, deadline=rpc.deadline)
        rpc.on_over(ctx._end)
        try:
            args = positional(fn)(ctx, Ref(_KINDS[ref.kind], ref.name), *more)
            return True, self.plugin._runner.call(ctx, fn, *args)
        except BaseException as e:
            self.plugin.log.warning("hook did not decide", extra={"primitive": ref.name, "error": repr(e)}, exc_info=e)
            return False, None

    def _ready(self) -> None:
        if self.plugin._config is not None and self.plugin._setup is None:
            raise Refused(grpc.StatusCode.FAILED_PRECONDITION, "the plugin is not configured")

    def _context(self, request: Any, subject: str, rpc: RPC, send: Any = None) -> Context:
        ctx = Context(
            self.plugin, request.context, subject, answers=request.input_responses_json,
            state=request.state if request.HasField("state") else None, send=send, deadline=rpc.deadline,
        )  # fmt: skip
        rpc.on_over(ctx._end)
        return ctx

    def _run(self, ctx: Context, subject: str, handler: Callable[[], T]) -> tuple[T | None, Failure | None]:
        """What a handler returned, or why it did not."""
        try:
            with self.running:
                result = handler()
        except BaseException as e:
            ctx.silence()
            return None, self._failure(ctx, subject, e)
        ctx.silence()
        # Questions that were asked come first: whatever the handler made of what they raised, it cannot have gone on
        # without the answer.
        if ctx._asked and (asked := ctx.asked()) is not None:
            return None, Failure(asked=asked)
        return result, None

    def _failure(self, ctx: Context, subject: str, raised: BaseException) -> Failure:
        if (asked := ctx.asked()) is not None:
            return Failure(asked=asked)
        e = _meant(raised)
        try:
            if isinstance(e, InputRequired):
                return Failure(asked=_required(e))
            if isinstance(e, Error):
                data = b"" if e.data is None else _json.dumps(e.data)
                return Failure(error=pb.Error(code=e.code, message=valid(e.message), data_json=data))
        except (TypeError, ValueError) as broken:  # what the handler raised has no JSON
            e = broken
        text = valid(str(e)) if isinstance(e, ToolError) else self._incident(subject, e, quiet=ctx.cancelled)
        return Failure(error=pb.Error(code=INTERNAL_ERROR, message=text), text=text)

    def refused(self, method: str, e: Exception) -> Refused:
        """The status for what a method raised: grpc on its own would tell the host all about it, and log it in its own way."""
        return e if isinstance(e, Refused) else Refused(grpc.StatusCode.INTERNAL, self._incident(method, e))

    def _incident(self, subject: str, e: BaseException, *, quiet: bool = False) -> str:
        """Says nothing but where to look: the log has the rest under the same incident id."""
        incident = secrets.token_hex(6).upper()
        if not quiet:  # nobody waits for the answer of a cancelled call
            self.plugin.log.error("handler failed", extra={"primitive": subject, "incident": incident}, exc_info=e)
        return f"internal error in {valid(subject)} (incident {incident})"


class Running:
    """Counts the handlers that run."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    def __enter__(self) -> None:
        with self._changed:
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._count -= 1
            if self._count == 0:
                self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Whether there are none any more, at the latest after some time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._count == 0, seconds)


def _meant(e: BaseException) -> BaseException:
    """The exception of a group that is meant for the caller, if there is one: a TaskGroup wraps what its tasks raise."""
    for inner in getattr(e, "exceptions", ()):
        inner = _meant(inner)
        if isinstance(inner, (ToolError, Error, InputRequired)):
            return inner
    return e


def _required(e: InputRequired) -> pb.InputRequired:
    required = pb.InputRequired(
        requests=[request_to_proto(r) for r in e.requests], state=e.state, single_use=e.single_use, sticky=e.sticky
    )
    if e.expires_after:
        required.expires_after.FromTimedelta(e.expires_after)
    return required


def _path(text: str) -> Any:
    from pathlib import Path

    return Path(text)


class _GRPC(RPC):
    """An RPC of a real server."""

    def __init__(self, context: grpc.ServicerContext) -> None:
        self._context = context
        remaining = context.time_remaining()
        # Without a deadline grpc says so with an absurd number of seconds.
        self.deadline = time.monotonic() + remaining if remaining is not None and remaining < 1e9 else None

    def on_over(self, callback: Callable[[], None]) -> None:
        if not self._context.add_callback(callback):
            callback()


def handlers(service: Service, urgent: futures.ThreadPoolExecutor) -> grpc.GenericRpcHandler:
    """The service for a gRPC server. What the SDK answers by itself, and the stream that never ends, run in a pool of their own:
    however many handlers of the author's hang, they are answered."""
    methods = {}
    for method in pb.DESCRIPTOR.services_by_name["PluginService"].methods:
        implementation = getattr(service, method.name, None)
        if implementation is None:
            continue
        behaviour: Any = (_stream if method.server_streaming else _unary)(service, implementation)
        if method.name in ("Describe", "Watch"):
            behaviour.experimental_thread_pool = urgent
        make = grpc.unary_stream_rpc_method_handler if method.server_streaming else grpc.unary_unary_rpc_method_handler
        request: Any = message_factory.GetMessageClass(method.input_type)
        response: Any = message_factory.GetMessageClass(method.output_type)
        methods[method.name] = make(behaviour, request.FromString, response.SerializeToString)
    return grpc.method_handlers_generic_handler("mcphost.plugin.v1.PluginService", methods)


def _unary(service: Service, implementation: Any) -> Any:
    def behaviour(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return implementation(request, _GRPC(context))
        except Exception as e:
            refused = service.refused(implementation.__name__, e)
        context.abort(refused.code, refused.details)

    return behaviour


def _stream(service: Service, implementation: Any) -> Any:
    def behaviour(request: Any, context: grpc.ServicerContext) -> Any:
        try:
            yield from implementation(request, _GRPC(context))
            return
        except Exception as e:
            refused = service.refused(implementation.__name__, e)
        context.abort(refused.code, refused.details)

    return behaviour
