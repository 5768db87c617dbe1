/** A plugin that makes readable text of HTML pages: what a person would read, without menus, advertisements and scripts. */

import { readFile, realpath, stat } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { Diagnostic, Plugin, ToolError } from "@mcphost/sdk";
import { z } from "zod";
import { toMarkdown, toText } from "./markdown.js";
import { extract, linksOf, parse } from "./page.js";

/** The largest page, in bytes: longer ones take longer than anybody waits. */
const maxPage = 8 << 20;

const source = {
  html: z.string().optional().describe("The HTML of the page. Give this or file."),
  file: z.string().optional().describe("The path of an HTML file, relative to the root that the operator configured. Give this or html."),
  url: z.url().optional().describe("Where the page came from: relative links become absolute."),
  whole: z.boolean().default(false).describe("Take the whole body, not only what looks like the article."),
};

export function newPlugin(): Plugin {
  const plugin = new Plugin("readable", "1.0.0", {
    instructions: "Use read_page on raw HTML before you quote it: it leaves the text of the page and drops what is around it.",
    documentation: "Makes readable text of HTML pages. With `config { root = … }` and the same folder in `sandbox { read = […] }` it reads files, too.",
    example: 'config { root = "~/pages" }\nsandbox { read = ["~/pages"] }',
  });
  const config = plugin.config(
    z.strictObject({
      root: z.string().optional().describe("The folder that pages may be read from").meta({ "x-mcphost-path": true }),
    }),
    {
      start: async ({ root }) =>
        root === undefined || (await isFolder(root))
          ? undefined
          : new Diagnostic("Unreadable root", `${root} is no folder that the plugin can read: name it in sandbox { read = […] }, too.`, "/root"),
    },
  );

  plugin.tool(
    "read_page",
    {
      title: "Read a page",
      description:
        "Extracts the readable part of an HTML page as Markdown or plain text, with its title, author and language. A long page comes in parts: call again with offset = next.",
      input: z.strictObject({
        ...source,
        format: z.enum(["markdown", "text"]).default("markdown"),
        offset: z.int().min(0).default(0).describe("The character to begin at."),
        limit: z.int().min(1).max(200_000).default(50_000).describe("The most characters to return."),
      }),
      output: z.object({
        title: z.string(),
        byline: z.string().optional(),
        site: z.string().optional(),
        language: z.string().optional(),
        published: z.string().optional(),
        text: z.string(),
        words: z.int().describe("Of the whole text."),
        next: z.int().optional().describe("The offset of the next part; absent at the end."),
      }),
      readOnly: true,
      idempotent: true,
      openWorld: false,
    },
    async ({ format, offset, limit, url, whole, ...given }) => {
      const html = await htmlOf(given, config.value.root);
      const { content, ...about } = nested(() => extract(parse(html), whole));
      const text = nested(() => (format === "text" ? toText(content) : toMarkdown(content, url)));
      const part = text.slice(offset, offset + limit);
      const end = offset + part.length;
      return { ...about, text: part, words: text.match(/\S+/g)?.length ?? 0, next: end < text.length ? end : undefined };
    },
  );

  plugin.tool(
    "page_links",
    {
      title: "Links of a page",
      description: "Lists the links in the readable part of an HTML page, each once, in their order.",
      input: z.strictObject(source),
      output: z.object({ links: z.array(z.object({ text: z.string(), url: z.string() })) }),
      readOnly: true,
      idempotent: true,
      openWorld: false,
    },
    async ({ url, whole, ...given }) => {
      const html = await htmlOf(given, config.value.root);
      return { links: nested(() => linksOf(extract(parse(html), whole).content, url)) };
    },
  );
  return plugin;
}

/** Returns the HTML that the arguments give. */
async function htmlOf({ html, file }: { html?: string; file?: string }, root: string | undefined): Promise<string> {
  if ((html === undefined) === (file === undefined)) {
    throw new ToolError("give html or file");
  }
  const page = file === undefined ? Buffer.from(html as string) : await readPage(file, root);
  if (page.length > maxPage) {
    throw new ToolError(`the page is too large: ${page.length} bytes, ${maxPage} are allowed`);
  }
  return decode(page);
}

/** Reads a file below the root, symbolic links included. */
async function readPage(file: string, root: string | undefined): Promise<Buffer> {
  if (root === undefined) {
    throw new ToolError("there is no root to read files from: give html");
  }
  try {
    const [folder, path] = await Promise.all([realpath(root), realpath(resolve(root, file))]);
    if (!path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) {
      throw new ToolError(`${JSON.stringify(file)} is outside of the root`);
    }
    const about = await stat(path);
    if (!about.isFile()) {
      throw new ToolError(`${JSON.stringify(file)} is no file`);
    }
    if (about.size > maxPage) {
      throw new ToolError(`the page is too large: ${about.size} bytes, ${maxPage} are allowed`);
    }
    return await readFile(path);
  } catch (error) {
    if (error instanceof ToolError) {
      throw error;
    }
    throw new ToolError(`${JSON.stringify(file)} cannot be read: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`, { cause: error });
  }
}

/** Returns the text of a page, in the encoding that it names in its first kilobyte. */
function decode(page: Buffer): string {
  const named = /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(page.toString("latin1", 0, 1024))?.[1] ?? "utf-8";
  try {
    return new TextDecoder(named).decode(page);
  } catch {
    return new TextDecoder().decode(page); // an encoding that nobody knows
  }
}

/** Runs what walks down the elements of a page. */
function nested<T>(walk: () => T): T {
  try {
    return walk();
  } catch (error) {
    if (error instanceof RangeError) {
      throw new ToolError("the elements of the page are nested too deeply", { cause: error });
    }
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (about) => about.isDirectory(),
    () => false,
  );
}
