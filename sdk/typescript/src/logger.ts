import { stringify } from "./json.js";

/** What else a line of the log says. */
export type Fields = { [name: string]: unknown };

/** The operator's log. What a client shall see goes through Call.log. */
export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

/** Returns a logger that writes hclog's JSON, a line a message, which a host understands. */
export function hclog(name: string, write: (line: string) => void = (line) => void process.stderr.write(line), bound: Fields = {}): Logger {
  const at = (level: string) => (message: string, fields?: Fields) => {
    const about = { "@level": level, "@message": message, "@module": name, "@timestamp": new Date().toISOString() };
    write(`${line({ ...bound, ...plain(fields), ...about })}\n`);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Returns a logger whose every line says more. */
export function withFields(log: Logger, bound: Fields): Logger {
  const at = (level: keyof Logger) => (message: string, fields?: Fields) => log[level](message, { ...bound, ...fields });
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Errors have no JSON of their own. */
function plain(fields: Fields = {}): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? (value.stack ?? value.message) : value]),
  );
}

function line(fields: Fields): string {
  try {
    return stringify(fields);
  } catch {
    return stringify(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])));
  }
}
