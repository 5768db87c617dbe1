import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";

/** The readable part of a page, and what the page says about itself. */
export interface Readable {
  title: string;
  byline?: string;
  site?: string;
  language?: string;
  published?: string;
  content: Element;
}

/** The deepest nesting of a page. The search for the article takes time by its fourth power; no page that somebody reads comes near. */
const maxDepth = 200;

/** The most elements in which the article is searched for: it takes seconds by then. Larger pages are taken whole. */
const maxElements = 20_000;

/** Elements that have no end, or need not have one. */
const open = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|d[td]|t[rdh]|tbody|option)$/i;

/** Parses a page, or a piece of one. Throws a RangeError where it is nested too deeply. */
export function parse(html: string): Document {
  let depth = 0;
  for (const [, end, name] of html.matchAll(/<(\/?)([a-z][^\s/>]*)/gi)) {
    depth += open.test(name as string) ? 0 : end === "/" ? -1 : 1;
    if (depth > maxDepth) {
      throw new RangeError("nested too deeply");
    }
  }
  const page = /<(?:html|body)[\s>]/i.test(html) ? html : `<!doctype html><html><body>${html}</body></html>`;
  return parseHTML(page).document as unknown as Document;
}

/** Finds the readable part, as Firefox's reader view does; where it finds none, or is not asked to, that is the body. */
export function extract(document: Document, whole: boolean): Readable {
  const title = tidy(document.querySelector("title")?.textContent);
  const language = tidy(document.documentElement?.getAttribute("lang"));
  const skip = whole || document.getElementsByTagName("*").length > maxElements;
  const article = skip ? null : new Readability(document.cloneNode(true) as Document, { keepClasses: true, serializer: (node) => node as Element }).parse();
  if (article?.content) {
    return {
      title: tidy(article.title) ?? title ?? "",
      byline: tidy(article.byline),
      site: tidy(article.siteName),
      language: tidy(article.lang) ?? language,
      published: tidy(article.publishedTime),
      content: article.content,
    };
  }
  return { title: title ?? "", language, content: document.body };
}

/** Returns the links below an element, each once, in their order. Those that lead nowhere are left out. */
export function linksOf(content: Element, base?: string): { text: string; url: string }[] {
  const links = new Map<string, string>();
  for (const a of content.querySelectorAll("a[href]")) {
    const url = absolute(a.getAttribute("href") ?? "", base);
    if (url !== undefined && !links.has(url)) {
      links.set(url, tidy(a.textContent) ?? "");
    }
  }
  return [...links].map(([url, text]) => ({ text, url }));
}

/** Returns where a reference leads, or undefined where it leads nowhere or runs a script. */
export function absolute(reference: string, base?: string): string | undefined {
  const trimmed = reference.trim();
  if (trimmed === "" || trimmed.startsWith("#") || /^(?:javascript|data|vbscript):/i.test(trimmed)) {
    return undefined;
  }
  return base !== undefined && URL.canParse(trimmed, base) ? new URL(trimmed, base).href : trimmed;
}

function tidy(text: string | null | undefined): string | undefined {
  const tidied = text?.replace(/\s+/g, " ").trim();
  return tidied === "" ? undefined : tidied;
}
