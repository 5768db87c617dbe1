/** RFC 6570, read backwards: which values a template was expanded with. */

const unreserved = "[A-Za-z0-9\\-._~]|%[0-9A-Fa-f]{2}";
const reserved = "[:/?#\\[\\]@!$&'()*+,;=]";

interface Operator {
  first: string;
  separator: string;
  named: boolean;
  allowReserved: boolean;
}

const plain: Operator = { first: "", separator: ",", named: false, allowReserved: false };

const operators: { [sign: string]: Operator } = {
  "+": { ...plain, allowReserved: true },
  "#": { ...plain, first: "#", allowReserved: true },
  ".": { ...plain, first: ".", separator: "." },
  "/": { ...plain, first: "/", separator: "/" },
  ";": { ...plain, first: ";", separator: ";", named: true },
  "?": { ...plain, first: "?", separator: "&", named: true },
  "&": { ...plain, first: "&", separator: "&", named: true },
};

/** A template of URIs. */
export class UriTemplate {
  /** The names of the variables, in their order. */
  readonly variables: string[] = [];
  readonly #pattern: RegExp;

  /** Throws a TypeError where the text is no template. */
  constructor(readonly text: string) {
    let pattern = "";
    let end = 0;
    for (const match of text.matchAll(/\{([^{}]*)\}/g)) {
      pattern += literal(text.slice(end, match.index)) + this.#expression(match[1] as string);
      end = match.index + match[0].length;
    }
    this.#pattern = new RegExp(`^${pattern}${literal(text.slice(end))}$`, "s");
  }

  /** Returns the values by name where the URI fits the template, or undefined. A variable that is not there is "". */
  match(uri: string): { [name: string]: string } | undefined {
    const match = this.#pattern.exec(uri);
    if (match === null) {
      return undefined;
    }
    return Object.fromEntries(this.variables.map((name, i) => [name, decode(match[i + 1] ?? "")]));
  }

  #expression(text: string): string {
    const parts = /^([+#./;?&]?)([A-Za-z0-9_.%,:*]+)$/.exec(text);
    if (parts === null) {
      throw new TypeError(`{${text}} is no expression of a URI template`);
    }
    const operator = operators[parts[1] as string] ?? plain;
    return (parts[2] as string).split(",").map((variable, i) => this.#variable(variable, operator, i === 0)).join("");
  }

  #variable(text: string, operator: Operator, first: boolean): string {
    const parts = /^((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:[A-Za-z0-9_.]|%[0-9A-Fa-f]{2})*)(?:(\*)|:([1-9]\d{0,3}))?$/.exec(text);
    const name = parts?.[1];
    if (parts === null || name === undefined || this.variables.includes(name)) {
      throw new TypeError(`${JSON.stringify(text)} is no variable of a URI template, or is there twice`);
    }
    this.variables.push(name);
    const characters = [unreserved, operator.allowReserved ? reserved : "", parts[2] ? literal(operator.separator) || "," : ""];
    const times = parts[3] === undefined ? "*" : `{0,${parts[3]}}`;
    const value = `((?:${characters.filter((one) => one !== "").join("|")})${times})`;
    const lead = first ? operator.first : operator.separator;
    if (operator.named) {
      return `(?:${literal(lead)}${literal(name)}=?${value})?`;
    }
    return lead === "" ? value : `(?:${literal(lead)}${value})?`;
  }
}

function literal(text: string): string {
  if (/[{}]/.test(text)) {
    throw new TypeError(`${JSON.stringify(text)} has a brace that is not part of an expression`);
  }
  return text.replace(/[\\^$.*+?()[\]|/-]/g, "\\$&");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
