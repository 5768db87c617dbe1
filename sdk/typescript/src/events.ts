import type { CallToolStreamResponse } from "./gen/mcphost/plugin/v1/plugin.js";

/** How grave a log message for the client is. */
export type Level = (typeof levels)[number];

/** The levels, from the least grave. */
export const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

/** Sends one event, and resolves when there is room for the next. */
export type Send = (event: CallToolStreamResponse) => Promise<void>;

/** The most log messages that wait for a slow reader. */
const maxWaiting = 1024;

/**
 * Events of a running call on their way to a reader that may be slow. Of progress that waits the latest is
 * enough; logs beyond the bound are dropped and counted.
 */
export class Events {
  #send: Send | undefined;
  readonly #logs: CallToolStreamResponse[] = [];
  #progress: CallToolStreamResponse | undefined;
  #pump: Promise<void> | undefined;
  #last = -Infinity;
  dropped = 0;

  constructor(send: Send | undefined) {
    this.#send = send;
  }

  /** Resolves when the progress is on its way or a later one took its place. */
  progress(progress: number, total: number | undefined, message: string): Promise<void> {
    // patterns/progress: the progress value MUST increase with each notification.
    if (this.#send === undefined || !(progress > this.#last)) {
      return Promise.resolve();
    }
    this.#last = progress;
    this.#progress = { event: { $case: "progress", value: { progress, total, message } } };
    return this.#run();
  }

  /** Resolves when the message is on its way. */
  log(level: Level, logger: string, dataJson: Buffer): Promise<void> {
    if (this.#send === undefined) {
      return Promise.resolve();
    }
    if (this.#logs.length >= maxWaiting) {
      this.dropped++;
      return this.#run();
    }
    this.#logs.push({ event: { $case: "log", value: { level, logger, dataJson } } });
    return this.#run();
  }

  /** Sends what waits, and then nothing any more: the outcome is the last event of a stream. */
  async end(): Promise<void> {
    await this.#pump;
    this.#send = undefined;
  }

  #run(): Promise<void> {
    this.#pump ??= this.#drain().finally(() => {
      this.#pump = undefined;
    });
    return this.#pump;
  }

  async #drain(): Promise<void> {
    for (;;) {
      const event = this.#logs.shift() ?? this.#progress;
      if (event === undefined || this.#send === undefined) {
        return;
      }
      if (event === this.#progress) {
        this.#progress = undefined;
      }
      await this.#send(event);
    }
  }
}
