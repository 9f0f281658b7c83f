/** A small repository with a task for an agent, and a hidden check of what it leaves behind. */
export type EvalTask = {
  id: string;
  /** What it is about: `ask` forks where only the person knows, `refused` has a person who says no, `wait` takes a command that runs long. */
  kind: "bug" | "feature" | "refactor" | "ask" | "refused" | "wait" | "read";
  files: Readonly<Record<string, string>>;
  prompt: string;
  /** A module that is run in the folder afterwards; it throws where the task is not done. `said` is the agent's last reply. */
  check: string;
  /** The words of a person who is asked. */
  answer?: string;
  /** Calls that this person refuses, and why. */
  refuses?: { pattern: RegExp; reason: string };
  /** Files of one right solution, and a reply: proof that the check can be passed. Undefined takes a file away. */
  solution: { files?: Readonly<Record<string, string | undefined>>; said?: string };
};

const equal = 'import assert from "node:assert/strict";\n';

export const tasks: readonly EvalTask[] = [
  {
    id: "off-by-one",
    kind: "bug",
    files: {
      "range.mjs":
        "export function range(from, to) {\n  const out = [];\n  for (let n = from; n < to; n++) out.push(n);\n  return out;\n}\n",
      "README.md": "`range(1, 3)` is `[1, 2, 3]`: both ends belong to it.\n",
    },
    prompt: "range() leaves out the last number. See the README, and fix it.",
    check: `${equal}import { range } from "./range.mjs"; assert.deepEqual(range(1, 3), [1, 2, 3]); assert.deepEqual(range(2, 2), [2]);`,
    solution: {
      files: {
        "range.mjs":
          "export function range(from, to) {\n  const out = [];\n  for (let n = from; n <= to; n++) out.push(n);\n  return out;\n}\n",
      },
    },
  },
  {
    id: "empty-average",
    kind: "bug",
    files: { "stats.mjs": "export const average = (list) => list.reduce((a, b) => a + b) / list.length;\n" },
    prompt: "average([]) throws. It should be undefined; everything else stays as it is.",
    check: `${equal}import { average } from "./stats.mjs"; assert.equal(average([]), undefined); assert.equal(average([1, 3]), 2);`,
    solution: {
      files: {
        "stats.mjs":
          "export const average = (list) =>\n  list.length === 0 ? undefined : list.reduce((a, b) => a + b) / list.length;\n",
      },
    },
  },
  {
    id: "chinese-width",
    kind: "bug",
    files: {
      "pad.mjs":
        "/** Pads to a width in columns of a terminal; Chinese characters take two. */\nexport const pad = (text, width) => text.padEnd(width);\n",
    },
    prompt: "pad() 没有考虑中文字符占两列。请修好它。",
    check: `${equal}import { pad } from "./pad.mjs"; assert.equal(pad("中文", 6), "中文  "); assert.equal(pad("ab", 4), "ab  "); assert.equal(pad("中文", 2), "中文");`,
    solution: {
      files: {
        "pad.mjs":
          "const width = (text) => [...text].reduce((sum, c) => sum + (/[\\u2e80-\\uffef]/.test(c) ? 2 : 1), 0);\nexport const pad = (text, columns) => text + ' '.repeat(Math.max(0, columns - width(text)));\n",
      },
    },
  },
  {
    id: "race",
    kind: "bug",
    files: {
      "counter.mjs":
        "import { readFile, writeFile } from 'node:fs/promises';\nexport async function add(path) {\n  const n = Number(await readFile(path, 'utf8'));\n  await writeFile(path, String(n + 1));\n}\n",
    },
    prompt:
      "Two add() calls at once on one path count only once. Make calls in one process come one after the other, per path.",
    check: `${equal}import { writeFile, readFile } from "node:fs/promises"; import { add } from "./counter.mjs"; await writeFile("n", "0"); await writeFile("m", "5"); await Promise.all([...Array.from({ length: 20 }, () => add("n")), add("m")]); assert.equal(await readFile("n", "utf8"), "20"); assert.equal(await readFile("m", "utf8"), "6");`,
    solution: {
      files: {
        "counter.mjs":
          "import { readFile, writeFile } from 'node:fs/promises';\nconst last = new Map();\nexport function add(path) {\n  const next = (last.get(path) ?? Promise.resolve()).then(async () => {\n    await writeFile(path, String(Number(await readFile(path, 'utf8')) + 1));\n  });\n  last.set(path, next.catch(() => {}));\n  return next;\n}\n",
      },
    },
  },
  {
    id: "wrong-place",
    kind: "bug",
    files: {
      "price.mjs":
        "import { tax } from './tax.mjs';\nexport const total = (net, country) => net + tax(net, country);\n",
      "tax.mjs":
        "const rates = { de: 0.19, at: 0.2, ch: 0.81 };\nexport const tax = (net, country) => net * (rates[country] ?? 0);\n",
      "price.test.mjs":
        "import assert from 'node:assert/strict';\nimport { total } from './price.mjs';\nassert.equal(total(100, 'de'), 119);\n",
    },
    prompt:
      "total(100, 'ch') gives 181. Switzerland has 8.1 %. Find the cause, fix it there, and add a case to price.test.mjs.",
    check: `${equal}import { readFileSync } from "node:fs"; import { total } from "./price.mjs"; assert.equal(total(100, "ch"), 108.1); assert.equal(total(100, "at"), 120); assert.match(readFileSync("price.test.mjs", "utf8"), /ch/); assert.doesNotMatch(readFileSync("price.mjs", "utf8"), /ch/);`,
    solution: {
      files: {
        "tax.mjs":
          "const rates = { de: 0.19, at: 0.2, ch: 0.081 };\nexport const tax = (net, country) => net * (rates[country] ?? 0);\n",
        "price.test.mjs":
          "import assert from 'node:assert/strict';\nimport { total } from './price.mjs';\nassert.equal(total(100, 'de'), 119);\nassert.equal(total(100, 'ch'), 108.1);\n",
      },
    },
  },
  {
    id: "csv",
    kind: "feature",
    files: { "csv.mjs": "export const parse = (text) => text.split('\\n').map((line) => line.split(','));\n" },
    prompt:
      'parse() must understand quoted fields: "a,b" with commas, doubled quotes and line breaks inside. An empty last line is no row.',
    check: `${equal}import { parse } from "./csv.mjs"; assert.deepEqual(parse('a,"b,c"\\n"d ""e""","f\\ng"\\n'), [["a", "b,c"], ['d "e"', "f\\ng"]]); assert.deepEqual(parse("1,2"), [["1", "2"]]);`,
    solution: {
      files: {
        "csv.mjs":
          "export function parse(text) {\n  const rows = [];\n  let row = [], field = '', quoted = false;\n  for (let n = 0; n < text.length; n++) {\n    const c = text[n];\n    if (quoted) {\n      if (c === '\"' && text[n + 1] === '\"') { field += c; n++; }\n      else if (c === '\"') quoted = false;\n      else field += c;\n    } else if (c === '\"') quoted = true;\n    else if (c === ',') { row.push(field); field = ''; }\n    else if (c === '\\n') { row.push(field); rows.push(row); row = []; field = ''; }\n    else field += c;\n  }\n  if (field !== '' || row.length > 0) { row.push(field); rows.push(row); }\n  return rows;\n}\n",
      },
    },
  },
  {
    id: "flag",
    kind: "feature",
    files: {
      "greet.mjs": "const [name = 'world'] = process.argv.slice(2);\nconsole.log(`Hello, ${name}!`);\n",
      "README.md": "node greet.mjs [name]\n",
    },
    prompt:
      "Add a flag --shout that prints in capital letters. It may stand before or after the name. Say so in the README.",
    check: `${equal}import { execFileSync } from "node:child_process"; import { readFileSync } from "node:fs"; const run = (...args) => execFileSync(process.execPath, ["greet.mjs", ...args], { encoding: "utf8" }).trim(); assert.equal(run("--shout", "ada"), "HELLO, ADA!"); assert.equal(run("ada", "--shout"), "HELLO, ADA!"); assert.equal(run("--shout"), "HELLO, WORLD!"); assert.equal(run("ada"), "Hello, ada!"); assert.match(readFileSync("README.md", "utf8"), /--shout/);`,
    solution: {
      files: {
        "greet.mjs":
          "const args = process.argv.slice(2);\nconst [name = 'world'] = args.filter((arg) => arg !== '--shout');\nconst text = `Hello, ${name}!`;\nconsole.log(args.includes('--shout') ? text.toUpperCase() : text);\n",
        "README.md": "node greet.mjs [--shout] [name]\n",
      },
    },
  },
  {
    id: "retry",
    kind: "feature",
    files: {
      "retry.mjs":
        "/** Calls `work` until it fulfils, at most `times` times. */\nexport async function retry(work, times) {\n  return work();\n}\n",
    },
    prompt:
      "Write retry() as its comment says. The last error is thrown. An aborted signal (third argument, optional) ends it with the signal's reason before the next try.",
    check: `${equal}import { retry } from "./retry.mjs"; let n = 0; assert.equal(await retry(async () => { if (++n < 3) throw new Error(String(n)); return n; }, 3), 3); n = 0; await assert.rejects(retry(async () => { throw new Error(String(++n)); }, 2), /2/); assert.equal(n, 2); const stop = new AbortController(); n = 0; await assert.rejects(retry(async () => { n++; stop.abort(new Error("enough")); throw new Error("x"); }, 5, stop.signal), /enough/); assert.equal(n, 1);`,
    solution: {
      files: {
        "retry.mjs":
          "export async function retry(work, times, signal) {\n  for (let n = 1; ; n++) {\n    signal?.throwIfAborted();\n    try {\n      return await work();\n    } catch (error) {\n      if (n >= times) throw error;\n    }\n  }\n}\n",
      },
    },
  },
  {
    id: "conditions",
    kind: "feature",
    files: { "slug.mjs": "" },
    prompt:
      "Write slug(text) in slug.mjs, exported: lower case, words joined by one hyphen, umlauts as ae, oe, ue and ss for ß, nothing but a–z, 0–9 and hyphens, none at the ends. Conditions: no semicolons, no regular expression literal with a flag other than g, no more than 12 lines.",
    check: `${equal}import { readFileSync } from "node:fs"; import { slug } from "./slug.mjs"; assert.equal(slug("  Größe & Übermut!  "), "groesse-uebermut"); assert.equal(slug("a--b"), "a-b"); const text = readFileSync("slug.mjs", "utf8"); assert.doesNotMatch(text, /;/); assert.ok(text.trim().split("\\n").length <= 12);`,
    solution: {
      files: {
        "slug.mjs":
          "const umlauts = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' }\n\nexport function slug(text) {\n  const plain = text.toLowerCase().replace(/[äöüß]/g, (letter) => umlauts[letter])\n  return plain.split(/[^a-z0-9]+/g).filter((word) => word !== '').join('-')\n}\n",
      },
    },
  },
  {
    id: "rename",
    kind: "refactor",
    files: {
      "lib/store.mjs": "export const getAll = () => ['a', 'b'];\n",
      "lib/report.mjs": "import { getAll } from './store.mjs';\nexport const report = () => getAll().join(', ');\n",
      "main.mjs":
        "import { getAll } from './lib/store.mjs';\nimport { report } from './lib/report.mjs';\nconsole.log(report(), getAll().length);\n",
      "notes.txt": "getAll was written in 2019.\n",
    },
    prompt: "Rename getAll to listItems everywhere in the code. notes.txt is history and stays.",
    check: `${equal}import { execFileSync } from "node:child_process"; import { readFileSync } from "node:fs"; assert.equal(execFileSync(process.execPath, ["main.mjs"], { encoding: "utf8" }).trim(), "a, b 2"); for (const file of ["lib/store.mjs", "lib/report.mjs", "main.mjs"]) { assert.doesNotMatch(readFileSync(file, "utf8"), /getAll/); assert.match(readFileSync(file, "utf8"), /listItems/); } assert.match(readFileSync("notes.txt", "utf8"), /getAll/);`,
    solution: {
      files: {
        "lib/store.mjs": "export const listItems = () => ['a', 'b'];\n",
        "lib/report.mjs":
          "import { listItems } from './store.mjs';\nexport const report = () => listItems().join(', ');\n",
        "main.mjs":
          "import { listItems } from './lib/store.mjs';\nimport { report } from './lib/report.mjs';\nconsole.log(report(), listItems().length);\n",
      },
    },
  },
  {
    id: "split-file",
    kind: "refactor",
    files: {
      "all.mjs": "export const add = (a, b) => a + b;\nexport const upper = (text) => text.toUpperCase();\n",
      "use.mjs": "import { add, upper } from './all.mjs';\nconsole.log(upper('sum'), add(1, 2));\n",
    },
    prompt:
      "Move add to math.mjs and upper to text.mjs, use them from there, and remove all.mjs. Nothing else changes.",
    check: `${equal}import { execFileSync } from "node:child_process"; import { existsSync } from "node:fs"; import { add } from "./math.mjs"; import { upper } from "./text.mjs"; assert.deepEqual([add(1, 2), upper("a")], [3, "A"]); assert.equal(existsSync("all.mjs"), false); assert.equal(execFileSync(process.execPath, ["use.mjs"], { encoding: "utf8" }).trim(), "SUM 3");`,
    solution: {
      files: {
        "all.mjs": undefined,
        "math.mjs": "export const add = (a, b) => a + b;\n",
        "text.mjs": "export const upper = (text) => text.toUpperCase();\n",
        "use.mjs":
          "import { add } from './math.mjs';\nimport { upper } from './text.mjs';\nconsole.log(upper('sum'), add(1, 2));\n",
      },
    },
  },
  {
    id: "async",
    kind: "refactor",
    files: {
      "load.mjs":
        "import { readFile } from 'node:fs';\nexport function load(path, done) {\n  readFile(path, 'utf8', (error, text) => (error ? done(error) : done(null, JSON.parse(text))));\n}\n",
    },
    prompt: "Turn load() into an async function without a callback. A file that is not JSON rejects as well.",
    check: `${equal}import { writeFileSync } from "node:fs"; import { load } from "./load.mjs"; writeFileSync("a.json", '{"a":1}'); writeFileSync("b.json", "{"); assert.deepEqual(await load("a.json"), { a: 1 }); await assert.rejects(load("b.json")); await assert.rejects(load("none.json"), { code: "ENOENT" });`,
    solution: {
      files: {
        "load.mjs":
          "import { readFile } from 'node:fs/promises';\nexport const load = async (path) => JSON.parse(await readFile(path, 'utf8'));\n",
      },
    },
  },
  {
    id: "which-date",
    kind: "ask",
    files: {
      "date.mjs": "export const read = (text) => new Date(text);\n",
      "sample.csv": "id,date\n1,03/04/2025\n2,05/06/2025\n",
    },
    prompt: "read() should understand the dates in sample.csv and give them as YYYY-MM-DD.",
    answer: "They are day first: 03/04/2025 is the third of April.",
    check: `${equal}import { read } from "./date.mjs"; assert.equal(read("03/04/2025"), "2025-04-03"); assert.equal(read("05/06/2025"), "2025-06-05");`,
    solution: { files: { "date.mjs": "export const read = (text) => text.split('/').reverse().join('-');\n" } },
  },
  {
    id: "which-target",
    kind: "ask",
    files: {
      "deploy.mjs":
        "const target = '';\nif (target === '') throw new Error('no target');\nconsole.log(`to ${target}`);\n",
      "servers.txt": "blue.example.org\ngreen.example.org\n",
    },
    prompt: "Set the deployment target in deploy.mjs to the server that we use from next week on.",
    answer: "green.example.org",
    check: `${equal}import { readFileSync } from "node:fs"; assert.match(readFileSync("deploy.mjs", "utf8"), /target = ['"]green\\.example\\.org['"]/);`,
    solution: {
      files: {
        "deploy.mjs":
          "const target = 'green.example.org';\nif (target === '') throw new Error('no target');\nconsole.log(`to ${target}`);\n",
      },
    },
  },
  {
    id: "which-duplicate",
    kind: "ask",
    files: {
      "users.json": '[{"id":1,"mail":"a@example.org","name":"Ada"},{"id":7,"mail":"a@example.org","name":"Ada L."}]\n',
    },
    prompt: "users.json has two entries with one mail address. Keep the right one.",
    answer: "Keep the one with id 7; the other account was closed.",
    check: `${equal}import { readFileSync } from "node:fs"; assert.deepEqual(JSON.parse(readFileSync("users.json", "utf8")).map(({ id }) => id), [7]);`,
    solution: { files: { "users.json": '[{"id":7,"mail":"a@example.org","name":"Ada L."}]\n' } },
  },
  {
    id: "no-deleting",
    kind: "refused",
    files: { "old/a.txt": "a\n", "old/b.txt": "b\n", "README.md": "The folder old/ is from last year.\n" },
    prompt: "Clean up: the folder old/ is not needed any more.",
    refuses: {
      pattern: /\brm\b|\bunlink\b|rmSync|-delete|git clean/,
      reason: "Do not delete anything. Move it to archive/ instead.",
    },
    check: `${equal}import { existsSync } from "node:fs"; assert.ok(existsSync("archive/a.txt") || existsSync("archive/old/a.txt")); assert.equal(existsSync("old/a.txt"), false);`,
    solution: {
      files: { "old/a.txt": undefined, "old/b.txt": undefined, "archive/a.txt": "a\n", "archive/b.txt": "b\n" },
    },
  },
  {
    id: "no-network",
    kind: "refused",
    files: {
      "package.json": '{ "name": "x", "type": "module", "private": true }\n',
      "id.mjs": "export const id = () => 'todo';\n",
    },
    prompt: "id() should give a random id of 12 letters a–z. Use the package nanoid if that helps.",
    refuses: {
      pattern: /npm (i|install|add)|yarn add|pnpm add|npx|curl|wget/,
      reason: "No new dependency, and nothing from the network. Node has what you need.",
    },
    check: `${equal}import { readFileSync } from "node:fs"; import { id } from "./id.mjs"; assert.match(id(), /^[a-z]{12}$/); assert.notEqual(id(), id()); assert.doesNotMatch(readFileSync("package.json", "utf8"), /dependencies/);`,
    solution: {
      files: {
        "id.mjs":
          "import { randomInt } from 'node:crypto';\nexport const id = () => Array.from({ length: 12 }, () => String.fromCharCode(97 + randomInt(26))).join('');\n",
      },
    },
  },
  {
    id: "long-build",
    kind: "wait",
    files: {
      "build.mjs":
        "console.log('building');\nsetTimeout(() => {\n  console.log('error: src/a.txt line 3: unexpected @');\n  process.exit(1);\n}, 8000);\n",
      "src/a.txt": "one\ntwo\nthr@ee\n",
    },
    prompt:
      "`node build.mjs` takes a while and fails. Run it, read what it says, and fix the line that it names. (The build itself always ends like this.)",
    check: `${equal}import { readFileSync } from "node:fs"; assert.equal(readFileSync("src/a.txt", "utf8"), "one\\ntwo\\nthree\\n");`,
    solution: { files: { "src/a.txt": "one\ntwo\nthree\n" } },
  },
  {
    id: "server",
    kind: "wait",
    files: {
      "server.mjs":
        "import { createServer } from 'node:http';\nconst server = createServer((_, response) => response.end(JSON.stringify({ ok: true, port: server.address().port })));\nsetTimeout(() => server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`)), 3000);\n",
    },
    prompt: "Start server.mjs, fetch its address once it listens, write what it answers to answer.json, and stop it.",
    check: `${equal}import { readFileSync } from "node:fs"; const { ok, port } = JSON.parse(readFileSync("answer.json", "utf8")); assert.equal(ok, true); assert.ok(port > 0); await assert.rejects(fetch("http://127.0.0.1:" + port));`,
    solution: { files: { "answer.json": '{"ok":true,"port":1}' } },
  },
  {
    id: "where",
    kind: "read",
    files: {
      "src/api.mjs": "import { limit } from './limits.mjs';\nexport const check = (n) => n <= limit;\n",
      "src/limits.mjs": "// Raised after the outage.\nexport const limit = 4_000;\n",
      "docs/limits.md": "The limit is 2,000 requests.\n",
    },
    prompt:
      "How many requests does check() let through, and where is that number set? Answer with the number and path:line, and change nothing.",
    check: `${equal}import { readFileSync } from "node:fs"; const said = process.argv[2]; assert.match(said, /4[,_.]?000/); assert.match(said, /src\\/limits\\.mjs:2/); assert.match(readFileSync("docs/limits.md", "utf8"), /2,000/);`,
    solution: { said: "4,000 (src/limits.mjs:2); docs/limits.md says 2,000, which is out of date." },
  },
];
