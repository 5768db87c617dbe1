// Prints the wire schemas that the conformance suite embeds, by revision, as
// one JSON object. They are object literals in its bundle: a table names the
// variables, and each literal is cut out and evaluated.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';

const file = new URL('./node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url);
const text = readFileSync(file, 'utf8');

const table = /\{"2025-03-26":([\w$]+),"2025-06-18":([\w$]+),"2025-11-25":([\w$]+),\[[\w$]+\]:([\w$]+)\}/.exec(text);
if (!table) throw new Error('the suite has no table of schemas');
const revisions = ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

const schemas = {};
for (const [i, revision] of revisions.entries()) {
  const start = text.indexOf(`${table[i + 1]}={$schema:`);
  if (start < 0) throw new Error(`no schema of ${revision}`);
  const open = text.indexOf('{', start);
  schemas[revision] = vm.runInNewContext(`(${text.slice(open, end(open))})`);
}
process.stdout.write(JSON.stringify(schemas));

// end returns the index after the brace that closes the one at i.
function end(i) {
  for (let depth = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '"' || c === "'" || c === '`') {
      for (i++; text[i] !== c; i++) if (text[i] === '\\') i++;
    } else if (c === '{') {
      depth++;
    } else if (c === '}' && --depth === 0) {
      return i + 1;
    }
  }
  throw new Error('a literal does not end');
}
