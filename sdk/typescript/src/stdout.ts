import { format } from "node:util";
import type { Logger } from "./logger.js";

/**
 * Makes standard output harmless: what console prints is a line of the log, and what is written to process.stdout goes to
 * standard error. Only file descriptor 1 itself is left as it is.
 */
export function captureStdout(log: Logger): void {
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const print =
    (level: keyof Logger) =>
    (...values: unknown[]): void =>
      log[level](format(...values));
  Object.assign(console, {
    log: print("debug"),
    debug: print("debug"),
    info: print("info"),
    warn: print("warn"),
    error: print("error"),
    trace: (...values: unknown[]) => log.debug(format(...values), { stack: new Error("trace").stack }),
  });
}
