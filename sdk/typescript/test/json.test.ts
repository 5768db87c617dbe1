import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeOptional, parse, stringify } from "#src/json.js";

test("integers keep their digits", () => {
  const cases: [string, unknown][] = [
    ["9007199254740993", 9007199254740993n],
    ["-9223372036854775808", -9223372036854775808n],
    ["9007199254740991", 9007199254740991],
    ['{"a":[18446744073709551615,1.5,1e3]}', { a: [18446744073709551615n, 1.5, 1000] }],
    ['"9007199254740993"', "9007199254740993"],
    ['{"9007199254740993":"\\"9007199254740993,\\\\"}', { "9007199254740993": '"9007199254740993,\\' }],
  ];
  for (const [json, value] of cases) {
    assert.deepEqual(parse(json), value, json);
    if (!json.includes("1e3")) {
      assert.equal(stringify(value), json);
    }
  }
});

test("floats stay floats", () => {
  assert.equal(parse("1234567890.1234567890"), 1234567890.123456789);
  assert.equal(parse("12345678901234567890e-3"), 12345678901234567.89);
});

test("what is no JSON is an error, with and without long integers", () => {
  for (const json of ["", "{", "01", '[9007199254740993,]', '{"a":9007199254740993', '"9007199254740993', "9007199254740993x"]) {
    assert.throws(() => parse(json), SyntaxError, json);
  }
});

test("a text of megabytes beside a long integer is no problem", () => {
  const long = "x\\n".repeat(2_000_000);
  const value = parse(`{"text":"${long}","n":9007199254740993}`) as { n: bigint };
  assert.equal(value.n, 9007199254740993n);
});

test("halves of characters become replacement characters", () => {
  assert.equal(stringify({ "\ud83d": "a\ude00 \ud83d\ude00 \\ud83d" }), '{"\ufffd":"a\ufffd \u{1f600} \\\\ud83d"}');
});

test("what has no JSON is an error", () => {
  assert.throws(() => stringify(undefined), /undefined has no JSON/);
  const cycle: unknown[] = [1n];
  cycle.push(cycle);
  assert.throws(() => stringify(cycle), TypeError);
});

test("an empty object is absent", () => {
  assert.equal(encodeOptional({}).length, 0);
  assert.equal(encodeOptional({ a: 1 }).toString(), '{"a":1}');
});
