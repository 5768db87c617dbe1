/**
 * JSON as it travels in the contract: no digit of an integer is lost. Integers beyond 2^53 are bigints on this side; all
 * others are numbers.
 */

import { randomBytes } from "node:crypto";

/** Stands before the digits of a bigint where JSON.parse and JSON.stringify know strings only. Nobody can guess it. */
const mark = `${randomBytes(16).toString("hex")}:`;
const marked = new RegExp(`"${mark}(-?\\d+)"`, "g");

/** An object of JSON. */
export type JsonObject = { [name: string]: unknown };

/** Returns the value of a JSON text. Throws a SyntaxError where it is none. */
export function parse(json: string | Uint8Array): unknown {
  const text = typeof json === "string" ? json : Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString("utf8");
  if (!/\d{16}/.test(text)) {
    return JSON.parse(text);
  }
  JSON.parse(text); // what follows takes valid JSON only
  return JSON.parse(markIntegers(text), (_, value) =>
    typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

/** Returns the JSON text of a value, on one line. Throws a TypeError where it has none. */
export function stringify(value: unknown): string {
  const text = plainOrMarked(value);
  if (text === undefined) {
    throw new TypeError(`${typeof value} has no JSON`);
  }
  return text.includes("\\ud") ? wellFormed(text) : text;
}

/** Returns the JSON bytes of a value. */
export function encode(value: unknown): Buffer {
  return Buffer.from(stringify(value));
}

/** Returns the JSON bytes of an object, or none where it is absent or empty. */
export function encodeOptional(value: object | undefined): Buffer {
  return value === undefined || Object.keys(value).length === 0 ? Buffer.alloc(0) : encode(value);
}

/** Returns what is in optional JSON bytes, or undefined where there are none or they are no JSON. */
export function parseOptional(json: Uint8Array): unknown {
  if (json.length === 0) {
    return undefined;
  }
  try {
    return parse(json);
  } catch {
    return undefined;
  }
}

/** Reports whether a value is an object of JSON: no null, no array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function plainOrMarked(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) {
      throw error;
    }
  }
  // There is a bigint in it, or a cycle, which throws again.
  return JSON.stringify(value, (_, v) => (typeof v === "bigint" ? mark + v : v))?.replace(marked, "$1");
}

/** Replaces halves of characters, which JSON.stringify escapes and strict readers refuse. */
function wellFormed(text: string): string {
  return text.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (escape) => (escape.length === 6 ? "\ufffd" : escape));
}

/** Makes marked strings of the integers that a number cannot hold. */
function markIntegers(text: string): string {
  let out = "";
  let copied = 0;
  for (let i = 0; i < text.length; ) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      i = stringEnd(text, i);
    } else if (c === 0x2d || isDigit(c)) {
      const end = numberEnd(text, i);
      const token = text.slice(i, end);
      if (/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))) {
        out += `${text.slice(copied, i)}"${mark}${token}"`;
        copied = end;
      }
      i = end;
    } else {
      i++;
    }
  }
  return out + text.slice(copied);
}

/** Returns the index after the string that starts at i. */
function stringEnd(text: string, i: number): number {
  for (i++; text.charCodeAt(i) !== 0x22; i++) {
    if (text.charCodeAt(i) === 0x5c) {
      i++;
    }
  }
  return i + 1;
}

function numberEnd(text: string, i: number): number {
  for (i++; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (!isDigit(c) && c !== 0x2e && c !== 0x2b && c !== 0x2d && (c | 0x20) !== 0x65) {
      break;
    }
  }
  return i;
}

const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39;
