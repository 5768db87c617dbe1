import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { assertManifest, connect, type Host } from "@mcphost/sdk/testing";
import { newPlugin } from "#src/plugin.js";

const folder = fileURLToPath(new URL("../test/", import.meta.url));
const page = readFileSync(join(folder, "page.html"), "utf8");

interface Page {
  title: string;
  text: string;
  words: number;
  next?: number;
  [more: string]: unknown;
}

async function read(host: Host, given: { [name: string]: unknown }): Promise<Page> {
  return (await host.call("read_page", given)).value as Page;
}

test("of a page its article is left", async () => {
  const host = await connect(newPlugin());
  const { text, words, ...about } = await read(host, { html: page, url: "https://garden.example.com/bees" });
  assert.deepEqual(about, {
    title: "How bees find home – The Garden Letter",
    byline: "Ada Field",
    site: "The Garden Letter",
    language: "en",
    published: "2026-05-01",
  });
  for (const gone of ["track(", "color: red", "Shop", "Buy our honey", "©"]) {
    assert.ok(!text.includes(gone), gone);
  }
  assert.ok(words > 150);
  assert.match(text, /for \*\*miles\*\* and .* a _hand_ wide/);
  assert.match(text, /the \[polarised light\]\(https:\/\/garden\.example\.com\/light\) of/);
  assert.match(text, /^## What they carry$/m);
  assert.match(text, /^- Pollen, for the brood\n {2}1\. of willow\n {2}2\. of clover\n- Water & resin$/m);
  assert.match(text, /^> The dance is the only map/m);
  assert.match(text, /^\| Flight \| Minutes \|\n\| --- \| --- \|\n\| Orchard \| 4 \|\n\| Lake \\\| far \| 11 \|$/m);
  assert.match(text, /^```python\ndef angle\(sun, food\):\n {4}return food - sun\n```$/m);
  assert.match(text, /Call `angle\(sun, food\)` and \\\*mind\\\* the sign\. !\[A bee at the door\]\(https:\/\/garden\.example\.com\/bee\.png\)/);
});

test("plain text has no marks", async () => {
  const host = await connect(newPlugin());
  const { text } = await read(host, { html: "<h2>A <b>b</b></h2><p>one<br>two *</p><ul><li>x</ul><script>no</script>", format: "text", whole: true });
  assert.equal(text, "A b\n\none\ntwo *\n\n- x");
});

test("a long page comes in parts that make the whole", async () => {
  const host = await connect(newPlugin());
  const whole = await read(host, { html: page });
  let text = "";
  for (let next: number | undefined = 0; next !== undefined; ) {
    const part: Page = await read(host, { html: page, offset: next, limit: 300 });
    text += part.text;
    next = part.next;
  }
  assert.equal(text, whole.text);
});

test("links are listed once, without those that run scripts", async () => {
  const host = await connect(newPlugin());
  const html = '<p><a href="/a">A</a> <a href="/a">again</a> <a href="javascript:x()">no</a> <a href="#top">no</a> <a href="https://b.example/">B</a></p>';
  const { value } = await host.call("page_links", { html, url: "https://a.example/x/", whole: true });
  assert.deepEqual(value, { links: [{ text: "A", url: "https://a.example/a" }, { text: "B", url: "https://b.example/" }] });
});

function rootOf(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), "readable"));
  t.after(() => rmSync(root, { recursive: true }));
  return root;
}

test("files are read below the root and nowhere else", async (t) => {
  const root = rootOf(t);
  writeFileSync(join(root, "latin.html"), Buffer.from('<meta charset="iso-8859-1"><title>Caf\xe9</title><p>d\xe9j\xe0 vu', "latin1"));
  symlinkSync("/etc/hostname", join(root, "link.html"));
  const host = await connect(newPlugin(), { config: { root } });
  const { title, text } = await read(host, { file: "latin.html", whole: true, format: "text" });
  assert.deepEqual([title, text], ["Café", "déjà vu"]);
  for (const [file, message] of [
    ["../../etc/hostname", /outside of the root|cannot be read/],
    ["/etc/hostname", /outside of the root/],
    ["link.html", /outside of the root/],
    ["nowhere.html", /cannot be read: ENOENT/],
    [".", /outside of the root|no file/],
  ] as const) {
    const outcome = await host.call("read_page", { file });
    assert.equal(outcome.isError, true, file);
    assert.match(outcome.text, message, file);
  }
});

test("what cannot be read is said", async (t) => {
  const host = await connect(newPlugin());
  assert.match((await host.call("read_page", {})).text, /give html or file/);
  assert.match((await host.call("read_page", { html: "a", file: "b" })).text, /give html or file/);
  assert.match((await host.call("read_page", { file: "b" })).text, /there is no root/);
  assert.match((await host.call("read_page", { html: "x".repeat(9 << 20) })).text, /too large/);
  await assert.rejects(connect(newPlugin(), { config: { root: join(rootOf(t), "none") } }), /Unreadable root/);
});

test("pages that nobody wrote by hand do no harm", async () => {
  const host = await connect(newPlugin());
  for (const html of ["", "<", "text only", "<html></html>", "<p>" + "<b>".repeat(150), "<p>".repeat(30_000), "</div>".repeat(20_000), "<table><tr><td><table><tr><td>x", "<ul>text<li><li></ul>", "\u0000<p>\ud800"]) {
    const outcome = await host.call("read_page", { html });
    assert.equal(outcome.isError, false, `${html.slice(0, 30)}: ${outcome.text}`);
  }
  for (const [depth, fails] of [
    [150, false],
    [1_500_000, true],
  ] as const) {
    for (const whole of [false, true]) {
      const deep = await host.call("read_page", { html: "<div>".repeat(depth) + "x", whole });
      assert.equal(deep.isError, fails, deep.text);
      assert.match(deep.text, fails ? /nested too deeply/ : /"text":"x"/);
    }
  }
});

test("the manifest is the one that was reviewed", () => {
  assertManifest(newPlugin(), join(folder, "manifest.json"));
});

test("mcphost serves it in its sandbox", async (t) => {
  const mcphost = process.env.MCPHOST ?? join(folder, "../../../bin/mcphost");
  assert.ok(existsSync(mcphost), `${mcphost} is not there: run make build`);
  const config = join(folder, "../config.hcl");
  const { stdout } = await promisify(execFile)(mcphost, ["call", "readable", "read_page", "file=page.html", "limit=40", "--json", "-c", config]);
  const { structuredContent } = JSON.parse(stdout) as { structuredContent: Page };
  assert.equal(structuredContent.byline, "Ada Field");
  assert.equal(structuredContent.next, 40);
  t.diagnostic(structuredContent.text);
});
