import type { Duration } from "./gen/google/protobuf/duration.js";

/** Returns milliseconds as protobuf has them, or undefined for none. */
export function duration(ms: number | undefined): Duration | undefined {
  if (ms === undefined) {
    return undefined;
  }
  if (!Number.isFinite(ms) || ms < 0) {
    throw new RangeError(`${ms} is no number of milliseconds`);
  }
  const seconds = Math.floor(ms / 1000);
  return { seconds, nanos: Math.floor((ms - seconds * 1000) * 1e6) };
}
