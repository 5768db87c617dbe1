/** The few forms of DER that a certificate takes: Node can read X.509, and not write it. */

export function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const length: number[] = [];
  for (let n = body.length; n > 0; n >>>= 8) {
    length.unshift(n & 0xff);
  }
  return Buffer.concat([Buffer.from(body.length < 0x80 ? [tag, body.length] : [tag, 0x80 | length.length, ...length]), body]);
}

export const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts);
export const set = (...parts: Uint8Array[]): Buffer => der(0x31, ...parts);
export const octets = (bytes: Uint8Array): Buffer => der(0x04, bytes);
export const text = (value: string): Buffer => der(0x0c, Buffer.from(value));
export const explicit = (number: number, part: Uint8Array): Buffer => der(0xa0 | number, part);
export const yes = der(0x01, Buffer.from([0xff]));

/** A number of bytes that begin with one from 1 to 127. */
export const integer = (bytes: Uint8Array): Buffer => der(0x02, bytes);

/** Bits, of which the last byte has some that do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.from([unused]), bytes);

/** An object identifier: "2.5.4.3". */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** A time as RFC 5280, 4.1.2.5 wants it: UTCTime until 2049, then GeneralizedTime. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, "");
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

function base128(n: number): number[] {
  const bytes = [n & 0x7f];
  for (n = Math.floor(n / 128); n > 0; n = Math.floor(n / 128)) {
    bytes.unshift(0x80 | (n & 0x7f));
  }
  return bytes;
}
