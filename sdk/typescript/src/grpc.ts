/** The service as gRPC carries it, with the two that go-plugin wants beside it. */

import { once } from "node:events";
import { Server, status, type sendUnaryData, type ServerUnaryCall, type ServerWritableStream, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { StatusError } from "./errors.js";
import { redact } from "./failure.js";
import { GRPCControllerService } from "./gen/controller.js";
import { HealthCheckResponse_ServingStatus as ServingStatus, HealthService } from "./gen/health.js";
import * as pb from "./gen/mcphost/plugin/v1/plugin.js";
import { maxMessageFromPlugin, maxMessageToPlugin } from "./limits.js";
import type { Service } from "./service.js";

/** What a call of either kind is. */
interface Running {
  getPath(): string;
  on(event: "cancelled", fn: () => void): unknown;
}

/** What is in work on a server, so that it can be ended. */
export class Work {
  readonly #controllers = new Set<AbortController>();
  readonly #running = new Set<Promise<void>>();

  constructor(private readonly service: Service) {}

  /** Aborts everything, and resolves when nothing runs any more. */
  async end(): Promise<void> {
    this.#controllers.forEach((controller) => controller.abort(new Error("the host said goodbye")));
    await Promise.all(this.#running);
  }

  /** Returns the handler of a method that answers once. */
  unary<Q, A>(fn: (request: Q, signal: AbortSignal) => A | Promise<A>) {
    return (call: ServerUnaryCall<Q, A>, answer: sendUnaryData<A>): void => {
      this.#run(call, async (signal) => answer(null, await fn(call.request, signal)), answer);
    };
  }

  /** Returns the handler of a method that answers with a stream. */
  stream<Q, A>(fn: (request: Q, send: (message: A) => Promise<void>, signal: AbortSignal) => Promise<void>) {
    return (call: ServerWritableStream<Q, A>): void => {
      const serve = async (signal: AbortSignal): Promise<void> => {
        await fn(call.request, (message) => write(call, message, signal), signal);
        call.end();
      };
      this.#run(call, serve, (error) => call.emit("error", error));
    };
  }

  #run(call: Running, serve: (signal: AbortSignal) => Promise<void>, fail: (error: StatusError) => void): void {
    const controller = new AbortController();
    call.on("cancelled", () => controller.abort(new Error("the call was cancelled")));
    this.#controllers.add(controller);
    const running = serve(controller.signal)
      .catch((error: unknown) => fail(this.#statusOf(call.getPath(), error)))
      .finally(() => {
        this.#controllers.delete(controller);
        this.#running.delete(running);
      });
    this.#running.add(running);
  }

  /** The last line of defence against what nobody expected. */
  #statusOf(method: string, error: unknown): StatusError {
    return error instanceof StatusError ? error : new StatusError(status.INTERNAL, redact(method, this.service.plugin.logger, error));
  }
}

/** Writes one message, and waits while the reader is slow. Of a call that is over nothing is sent any more. */
async function write<A>(call: ServerWritableStream<unknown, A>, message: A, signal: AbortSignal): Promise<void> {
  if (signal.aborted || call.write(message)) {
    return;
  }
  await once(call, "drain", { signal }).catch(() => {}); // of an abort
}

/** Returns a gRPC server of the plugin that calls goodbye when the host says it. */
export function newServer(service: Service, work: Work, goodbye: () => void): Server {
  const server = new Server({
    "grpc.max_receive_message_length": maxMessageToPlugin,
    "grpc.max_send_message_length": maxMessageFromPlugin,
  });
  server.addService(pb.PluginServiceService, pluginMethods(service, work) as unknown as UntypedServiceImplementation);
  server.addService(HealthService, healthMethods(work) as unknown as UntypedServiceImplementation);
  server.addService(GRPCControllerService, {
    shutdown: work.unary(() => {
      setImmediate(goodbye); // after the answer
      return {};
    }),
  } as unknown as UntypedServiceImplementation);
  return server;
}

function pluginMethods(service: Service, work: Work): Partial<Record<keyof typeof pb.PluginServiceService, unknown>> {
  return {
    describe: work.unary<pb.DescribeRequest, pb.DescribeResponse>(() => service.describe()),
    validateConfig: work.unary<pb.ValidateConfigRequest, pb.ValidateConfigResponse>(async ({ configJson }) => ({
      diagnostics: await service.validateConfig(configJson),
    })),
    configure: work.unary<pb.ConfigureRequest, pb.ConfigureResponse>((request) => service.configure(request)),
    watch: work.stream<pb.WatchRequest, pb.WatchResponse>((_, send, signal) => service.watch(send, signal)),
    callTool: work.unary<pb.CallToolRequest, pb.CallToolResponse>((request, signal) => service.callTool(request, signal)),
    callToolStream: work.stream<pb.CallToolStreamRequest, pb.CallToolStreamResponse>(async ({ call }, send, signal) => {
      const outcome = await service.callTool(call ?? pb.CallToolRequest.create(), signal, send);
      await send({ event: { $case: "outcome", value: outcome } });
    }),
    readResource: work.unary<pb.ReadResourceRequest, pb.ReadResourceResponse>((request, signal) => service.readResource(request, signal)),
    getPrompt: work.unary<pb.GetPromptRequest, pb.GetPromptResponse>((request, signal) => service.getPrompt(request, signal)),
    complete: work.unary<pb.CompleteRequest, pb.CompleteResponse>((request, signal) => service.complete(request, signal)),
    setSubscriptions: work.unary<pb.SetSubscriptionsRequest, pb.SetSubscriptionsResponse>(async ({ uris }) => {
      await service.setSubscriptions(uris);
      return {};
    }),
    shouldRegister: work.unary<pb.ShouldRegisterRequest, pb.ShouldRegisterResponse>((request, signal) => service.shouldRegister(request, signal)),
    authorize: work.unary<pb.AuthorizeRequest, pb.AuthorizeResponse>((request, signal) => service.authorize(request, signal)),
  };
}

function healthMethods(work: Work) {
  const check = ({ service }: { service: string }) => {
    if (service !== "" && service !== "plugin") {
      throw new StatusError(status.NOT_FOUND, `unknown service ${JSON.stringify(service)}`);
    }
    return { status: ServingStatus.SERVING };
  };
  return {
    check: work.unary(check),
    watch: work.stream(async (request: { service: string }, send: (answer: ReturnType<typeof check>) => Promise<void>, signal) => {
      await send(check(request));
      if (!signal.aborted) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      }
    }),
  };
}
