/** Elements of a page as Markdown or as plain text. */

import { absolute } from "./page.js";

/** Returns an element as Markdown. Relative links become absolute where a base is given. */
export function toMarkdown(root: Element, base?: string): string {
  return finish(new Writer(true, base).blocks(root));
}

/** Returns an element as plain text, a blank line between blocks. */
export function toText(root: Element): string {
  return finish(new Writer(false).blocks(root));
}

const hidden = new Set(["script", "style", "noscript", "template", "head", "title", "meta", "link", "base", "iframe", "svg", "object", "form", "button", "select", "input"]);

const inline = new Set(
  "a abbr b bdi bdo br cite code data del dfn em font i img ins kbd label mark q rp rt ruby s samp small span strike strong sub sup time tt u var wbr".split(" "),
);

const marks: { [tag: string]: string } = { strong: "**", b: "**", em: "_", i: "_", del: "~~", s: "~~", strike: "~~" };

class Writer {
  constructor(
    private readonly markdown: boolean,
    private readonly base?: string,
  ) {}

  /** Returns the blocks in an element, a blank line between them. Inline content between blocks is a paragraph. */
  blocks(parent: Element): string {
    const blocks: string[] = [];
    let paragraph = "";
    const endParagraph = (): void => {
      blocks.push(tidy(paragraph));
      paragraph = "";
    };
    for (const node of parent.childNodes) {
      if (isElement(node) && !inline.has(nameOf(node))) {
        endParagraph();
        blocks.push(this.#block(node));
      } else {
        paragraph += this.#inline(node);
      }
    }
    endParagraph();
    return blocks.filter((block) => block !== "").join("\n\n");
  }

  #block(element: Element): string {
    const name = nameOf(element);
    if (hidden.has(name)) {
      return "";
    }
    switch (name) {
      case "h1":
      case "h2":
      case "h3":
      case "h4":
      case "h5":
      case "h6": {
        const text = tidy(this.#children(element)).replaceAll("\n", " ");
        return this.markdown && text !== "" ? `${"#".repeat(Number(name[1]))} ${text}` : text;
      }
      case "p":
        return hasBlocks(element) ? this.blocks(element) : tidy(this.#children(element));
      case "pre":
        return this.#code(element);
      case "blockquote":
        return prefixed(this.blocks(element), this.markdown ? "> " : "  ");
      case "ul":
      case "ol":
        return this.#list(element, name === "ol");
      case "table":
        return this.#table(element);
      case "hr":
        return this.markdown ? "---" : "";
      case "figcaption":
        return this.markdown ? mark(tidy(this.#children(element)), "_") : tidy(this.#children(element));
      default:
        return this.blocks(element);
    }
  }

  #code(element: Element): string {
    const text = (element.textContent ?? "").replace(/^\n|\s+$/g, "");
    if (!this.markdown || text === "") {
      return text;
    }
    const language = /(?:^|\s)(?:language|lang)-([\w+#-]+)/.exec(element.querySelector("code")?.getAttribute("class") ?? element.getAttribute("class") ?? "")?.[1] ?? "";
    const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
    return `${fence}${language}\n${text}\n${fence}`;
  }

  #list(element: Element, ordered: boolean): string {
    const items: string[] = [];
    let number = Number(element.getAttribute("start") ?? 1) || 1;
    for (const child of element.children) {
      const text = nameOf(child) === "li" ? this.blocks(child).replace(/\n\n(?=[ ]*(?:[-*]|\d+\.) )/g, "\n") : this.#block(child);
      if (text === "") {
        continue;
      }
      const bullet = ordered ? `${number++}. ` : "- ";
      items.push(bullet + text.replace(/\n(?=[^\n])/g, `\n${" ".repeat(bullet.length)}`));
    }
    return items.join("\n");
  }

  #table(element: Element): string {
    const rows = [...element.querySelectorAll("tr")].map((row) =>
      [...row.children].map((cell) => tidy(this.#children(cell)).replace(/\s*\n\s*/g, " ")),
    );
    const width = Math.max(0, ...rows.map((row) => row.length));
    const isLayout = width < 2 || element.querySelector("table") !== null;
    if (isLayout) {
      return [...element.querySelectorAll("td, th")].filter((cell) => cell.closest("table") === element).map((cell) => this.blocks(cell)).filter((text) => text !== "").join("\n\n");
    }
    if (!this.markdown) {
      return rows.map((row) => row.join("\t")).join("\n");
    }
    const lines = rows.map((row) => `| ${Array.from({ length: width }, (_, i) => (row[i] ?? "").replaceAll("|", "\\|")).join(" | ")} |`);
    lines.splice(1, 0, `|${" --- |".repeat(width)}`);
    return lines.join("\n");
  }

  /** Returns the inline content of a node. Blocks that stand where they should not run along. */
  #inline(node: Node): string {
    if (node.nodeType === 3) {
      const text = (node.textContent ?? "").replace(/[ \t\n\r\f]+/g, " ");
      return this.markdown ? text.replace(/[\\`*_[\]]/g, "\\$&").replace(/<(?=[a-z/!])/gi, "\\<") : text;
    }
    if (!isElement(node) || hidden.has(nameOf(node))) {
      return "";
    }
    const name = nameOf(node);
    if (name === "br") {
      return "\n";
    }
    if (name === "img") {
      return this.#image(node);
    }
    if (this.markdown && (name === "code" || name === "kbd" || name === "samp" || name === "tt")) {
      return codeSpan(node.textContent ?? "");
    }
    const text = this.#children(node);
    if (!this.markdown) {
      return text;
    }
    return name === "a" ? this.#link(node, text) : mark(text, marks[name] ?? "");
  }

  #children(element: Element): string {
    let text = "";
    for (const node of element.childNodes) {
      const apart = isElement(node) && !inline.has(nameOf(node)) ? " " : "";
      text += apart + this.#inline(node) + apart;
    }
    return text;
  }

  #link(element: Element, text: string): string {
    const url = absolute(element.getAttribute("href") ?? "", this.base);
    const label = tidy(text).replaceAll("\n", " ");
    return url === undefined || label === "" ? text : around(text, `[${label}](${destination(url)})`);
  }

  #image(element: Element): string {
    const alt = (element.getAttribute("alt") ?? "").replace(/\s+/g, " ").trim();
    const url = absolute(element.getAttribute("src") ?? "", this.base);
    if (alt === "") {
      return "";
    }
    return this.markdown && url !== undefined ? `![${alt.replace(/[\\[\]]/g, "\\$&")}](${destination(url)})` : alt;
  }
}

/** Puts a mark around text, inside of its white space: "** a**" is no Markdown. */
function mark(text: string, sign: string): string {
  const inner = text.trim();
  return sign === "" || inner === "" ? text : around(text, sign + inner + sign);
}

/** Returns what stands for text, with the white space of the text around it. */
function around(text: string, instead: string): string {
  return (/^\s/.test(text) ? " " : "") + instead + (/\s$/.test(text) ? " " : "");
}

function codeSpan(text: string): string {
  const code = text.replace(/\s+/g, " ");
  if (code.trim() === "") {
    return code;
  }
  const fence = "`".repeat(longestRun(code) + 1);
  const space = /^`|`$/.test(code) ? " " : "";
  return fence + space + code + space + fence;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}

function destination(url: string): string {
  return /[\s()<>]/.test(url) ? `<${url.replace(/[<>\n]/g, encodeURIComponent)}>` : url;
}

function prefixed(text: string, prefix: string): string {
  return text === "" ? "" : text.split("\n").map((line) => (prefix + line).trimEnd()).join("\n");
}

function tidy(text: string): string {
  return text.replace(/[ \t]+/g, " ").replace(/ ?\n ?/g, "\n").trim();
}

function finish(text: string): string {
  return text.replace(/\n{3,}/g, "\n\n").trim();
}

function hasBlocks(element: Element): boolean {
  return [...element.children].some((child) => !inline.has(nameOf(child)));
}

function isElement(node: Node): node is Element {
  return node.nodeType === 1;
}

function nameOf(element: Element): string {
  return element.localName.toLowerCase();
}
