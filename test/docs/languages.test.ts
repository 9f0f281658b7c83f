import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
const read = (page: string) => readFileSync(join(root, page), "utf8");
const pairs = [
  { english: "README.md", chinese: "README.zh.md" },
  ...globSync("docs/zh/*.md", { cwd: root }).map((page) => {
    const name = posix.basename(page.replaceAll("\\", "/"));
    return { english: `docs/${name}`, chinese: `docs/zh/${name}` };
  }),
];

test("the pages people use Sage by are there in Chinese", () => {
  const inChinese = pairs.map(({ english }) => english);
  const needed = [
    "README.md",
    "docs/extending.md",
    "docs/feishu.md",
    "docs/guide.md",
    "docs/models.md",
    "docs/permissions.md",
    "docs/recipes.md",
    "docs/recovery.md",
    "docs/settings.md",
    "docs/skills.md",
    "docs/subagents.md",
    "docs/testing.md",
    "docs/turns.md",
    "docs/web-tools.md",
    "docs/web.md",
  ];
  assert.deepEqual(
    needed.filter((page) => !inChinese.includes(page)),
    [],
  );
});

for (const { english, chinese } of pairs) {
  test(`${chinese} shows the blocks of ${english}, in its order`, () => {
    const shown = blocks(read(chinese));
    for (const [n, block] of blocks(read(english)).entries()) assertSame(shown[n] ?? "", block, chinese);
    assert.equal(shown.length, blocks(read(english)).length);
  });

  test(`${chinese} names the commands, keys and flags of ${english}, and no others`, () => {
    const [here, there] = [spans(read(chinese)), spans(read(english))];
    const missing = (from: Set<string>, other: Set<string>) => [...other].filter((code) => !from.has(code));
    assert.deepEqual(missing(here, there), [], `${chinese} lacks these`);
    assert.deepEqual(missing(there, here), [], `${english} lacks these`);
  });

  test(`${chinese} has the sections and tables of ${english}`, () => {
    assert.deepEqual(shape(read(chinese)), shape(read(english)));
  });

  test(`${chinese} and ${english} link to each other, and Chinese pages to Chinese ones`, () => {
    assert.ok(links(english).slice(0, 1).includes(chinese), `${english} begins with a link to ${chinese}`);
    assert.equal(links(chinese)[0], english, `${chinese} begins with a link to ${english}`);
    const translated = pairs.filter((pair) => links(chinese).slice(1).includes(pair.english));
    assert.deepEqual(
      translated.map((pair) => pair.english),
      [],
      "these are there in Chinese",
    );
  });

  test(`${chinese} is Chinese: full-width punctuation, no English sentence`, () => {
    const prose = withoutCode(read(chinese));
    const halfWidth = prose.match(/.{0,12}(?:\p{Script=Han}[,;:!?]|[,;:!?(]\p{Script=Han}).{0,12}/gu) ?? [];
    assert.deepEqual(halfWidth, []);
    const sentences = prose.match(/(?:\b[a-z]+ ){5,}[a-z]+/gi) ?? [];
    assert.deepEqual(sentences, []);
  });
}

test("a translated comment or task is the same command; another flag, rule or file is not", () => {
  const same = (chinese: string, english: string) => assertSame(chinese, english, "a page");
  same('sage -p "整理"  # 退出', 'sage -p "tidy up"  # exits');
  same(`notify-send '在等你'`, `notify-send 'waits'`);
  assert.throws(() => same("sage inbox --watch", "sage inbox"));
  assert.throws(() => same('sage add "Bash(ls)" "好"', 'sage add "Bash(rm)" "good"'));
  assert.throws(() => same('{ "deny": [] }', '{ "ask": [] }'));
});

/** Compares line by line: comments are left to the language, and quoted words that are Chinese stand for any others. */
function assertSame(chinese: string, english: string, page: string): void {
  const [here, there] = [commands(chinese), commands(english)];
  const matched = there.map((line, n) => (matches(here[n] ?? "", line) ? here[n] : line));
  assert.deepEqual(here, matched, `${page} shows another block`);
}

function matches(chinese: string, english: string): boolean {
  const quoted = /("[^"]*"|'[^']*')/;
  const [here, there] = [chinese.split(quoted), english.split(quoted)];
  const same = (piece: string, n: number) =>
    piece === there[n] || (n % 2 === 1 && /\p{Script=Han}/u.test(piece) && piece[0] === there[n]?.[0]);
  return here.length === there.length && here.every(same);
}

function commands(block: string): string[] {
  return block.split("\n").map((line) => line.replace(/\s+# .*$/, ""));
}

function blocks(page: string): string[] {
  return [...page.matchAll(/^```(.*\n[^]*?)^```$/gm)].map(([, block = ""]) => block);
}

function withoutBlocks(page: string): string {
  return page.replaceAll(/^```.*\n[^]*?^```$/gm, "");
}

/** Inline code. Words in quotes and in angle brackets are prose there, and so is code that is Chinese itself. */
function spans(page: string): Set<string> {
  const found = [...withoutBlocks(page).matchAll(/`+([^`]+)`+/g)].map(([, code = ""]) => code.replaceAll(/\s+/g, " "));
  return new Set(
    found.map((code) =>
      /^(sage|npm) /.test(code) ? code.replaceAll(/"[^"]*"/g, '"…"').replaceAll(/<[^>]*>/g, "<…>") : code,
    ),
  );
}

function shape(page: string): string[] {
  return withoutBlocks(page)
    .split("\n")
    .filter((line) => /^(#+ |\|)/.test(line))
    .map((line) =>
      line.startsWith("|") ? `${line.replaceAll(/\\\||[^|]/g, "").length} bars` : line.replace(/ .*/, ""),
    );
}

/** Markdown pages that a page links to, from the root. */
function links(page: string): string[] {
  return [...read(page).matchAll(/\]\(((?!https?:|#)[^)#]+\.md)/g)].map(([, link = ""]) =>
    posix.join(posix.dirname(page), link),
  );
}

function withoutCode(page: string): string {
  return withoutBlocks(page)
    .replaceAll(/`[^`]*`/g, "`")
    .replaceAll(/\]\([^)]*\)/g, "]");
}
