import assert from "node:assert/strict";
import { test } from "node:test";
import { UriTemplate } from "#src/uritemplate.js";

test("a URI gives the values that it was made of", () => {
  const cases: [string, string, { [name: string]: string } | undefined][] = [
    ["note://{name}", "note://anna", { name: "anna" }],
    ["note://{name}", "note://a%20b", { name: "a b" }],
    ["note://{name}", "note://a/b", undefined],
    ["note://{name}", "xnote://a", undefined],
    ["file:///{+path}", "file:///a/b.txt", { path: "a/b.txt" }],
    ["a{/x,y}", "a/1/2", { x: "1", y: "2" }],
    ["a{/x*}", "a/1/2", { x: "1/2" }],
    ["a{?q,n}", "a?q=x%26y&n=2", { q: "x&y", n: "2" }],
    ["a{?q,n}", "a", { q: "", n: "" }],
    ["a{?q}", "a?z=1", undefined],
    ["a{x,y}", "a1,2", { x: "1", y: "2" }],
    ["a{#f}", "a#top/1", { f: "top/1" }],
    ["a{.ext}", "a.txt", { ext: "txt" }],
    ["a{x:2}", "a12", { x: "12" }],
    ["a{x:2}", "a123", undefined],
    ["a.b", "axb", undefined],
    ["a{x}", "a%ff", { x: "%ff" }],
  ];
  for (const [template, uri, want] of cases) {
    assert.deepEqual(new UriTemplate(template).match(uri), want, `${template} ${uri}`);
  }
});

test("what is no template is an error", () => {
  for (const template of ["{", "a}", "{}", "{a", "{a b}", "{a}{a}", "{=a}", "{a:0}"]) {
    assert.throws(() => new UriTemplate(template), TypeError, template);
  }
});
