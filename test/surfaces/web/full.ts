import type { Fact } from "../../../src/protocol/facts/fact.ts";
import type { InputRequest } from "../../../src/protocol/facts/request.ts";
import type { CommandReply } from "../../../src/protocol/host/host.ts";
import type { Tally } from "../../../src/protocol/host/past.ts";
import type { Receipt } from "../../../src/protocol/host/receipt.ts";
import { reason } from "../../../src/protocol/reasons/reason.ts";
import { bashRequest, fact, now, questionRequest, session, snapshot, watched } from "./examples.ts";
import type { Tab } from "./browser.ts";

const path = "/home/you/a-folder-with-a-rather-long-name/packages/parser/src/recursive-descent/expression.test.ts";
const command = `env NODE_OPTIONS=--max-old-space-size=4096 npm run build --workspace=packages/parser && cp -r dist/* ${path}`;
const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 };
const long = "a_word_that_nobody_would_break_anywhere_".repeat(4);

export function receipt(n: number, decision: Receipt["decision"], more: Partial<Receipt> = {}): Receipt {
  return {
    ...{ id: `s1/t0/0/${n}`, session: "s1", at: now - n * 4_000_000, agent: [], tool: "Bash", input: { command } },
    ...{ effect: "writes", decision, reason: reason("no-rule-command", {}), asked: [], rulesAdded: [] },
    ...{ digest: "9f2c".repeat(16), files: [path], runs: [], standing: "done" },
    ...more,
  } as Receipt;
}

const tally = (asked: number): Tally => ({
  ...{ asked, yes: asked - 4, no: 2, none: 1, open: 1, medianMs: 42_000, p90Ms: 5_400_000 },
});

/** A host whose every list is long, and whose names do not fit on a phone. */
export const fullReplies: Record<string, CommandReply> = {
  past: { ok: true, trials: [] },
  sessions: { ok: true, sessions: [session("s1", `Fix ${long}`), session("s2", "Set up storage", { state: "idle" })] },
  receipts: {
    ok: true,
    receipts: [
      receipt(0, "allowed", {
        rule: { text: `Bash(${command}:*)`, source: "project", from: path },
        standing: "failed",
      }),
      receipt(1, "refused", { agent: ["explore", "a-subagent-with-a-long-name"] }),
      receipt(2, "open", { tool: "Write", input: { file_path: path, content: long } }),
    ],
    sessions: [session("s1", `Fix ${long}`)],
    records: [],
  },
  about: {
    ok: true,
    folders: [],
    session: {
      rules: [
        { rule: `Bash(${command})`, behavior: "allow", source: "project", file: path },
        { rule: `Edit(${path})`, behavior: "deny", source: "project", file: path },
        {
          rule: "WebFetch(domain:example.org)",
          behavior: "ask",
          source: "user",
          file: "/home/you/.sage/settings.json",
        },
      ],
    },
  } as unknown as CommandReply,
  stats: {
    ok: true,
    stats: {
      ...tally(1_204),
      ...{ calls: 20_481, sessions: 44, since: now - 90 * 86_400_000 },
      tools: ["Bash", "Edit", `mcp__${long}`].map((tool, n) => ({ tool, ...tally(90 - n) })),
      people: [{ by: "somebody.with.a.long.name@example.org", surface: "feishu", ...tally(12) }],
      rules: [
        { rule: `Bash(${command}:*)`, spared: 4_410 },
        { rule: "Read(*)", spared: 88 },
      ],
    },
  },
};

const text = `## What I found

The parser loops at \`${long}\`; see https://example.org/${long}.

| file | lines | what is wrong with it |
|---|---|---|
| ${path} | 120–140 | the loop does not end |

\`\`\`ts
export const longLine = parse("${"x + ".repeat(40)}1");
\`\`\`

- [x] read it
- [ ] mend it`;

const facts: Fact[] = [
  fact("s1", "said/1", "user.said", { text: `go ${long}`, by: "you", surface: "web" }),
  fact("s1", "t0", "turn.begun", { loop: 1, maxSteps: 9, sawUpTo: 0 }),
  fact("s1", "t0/0/model", "model.replied", {
    parts: [
      { type: "text", text },
      { type: "call", id: "1", tool: "Bash", input: { command } },
      { type: "call", id: "2", tool: `mcp__${long}`, input: { query: long } },
    ],
    ...{ usage, finish: "calls", model: "m", sawUpTo: 1 },
  }),
  fact("s1", "t0/0/0/run0.started", "call.started", { tool: "Bash", effect: "writes", digest: "" }),
  fact("s1", "t0/0/0/run0.finished", "call.finished", { ok: false, text: `${path}: ${long}`, end: "failed" }),
  fact("s1", "said/2", "user.said", { text: "and the other file too", by: "you", surface: "web" }),
];

export const requests: InputRequest[] = [
  bashRequest(command, { hard: true, description: `Copies ${long}`, why: reason("no-rule-command", {}) }),
  questionRequest(),
];

/** Fills every page of a tab. */
export async function fill(tab: Tab): Promise<void> {
  await tab.page.evaluate(`Object.assign(fake.replies, ${JSON.stringify(fullReplies)})`);
  await tab.inbox(
    snapshot(requests, [
      session("s1", `Fix ${long}`),
      session("s2", "Set up storage"),
      session("s3", `Docs ${long}`, { state: "running", pending: 0 }),
      session("s4", `Notes ${long}`, { state: "idle", pending: 0 }),
    ]),
  );
  await tab.watch("s1", ...watched(facts, requests.slice(0, 1)));
}

export const places = [
  "#/",
  "#/r/r1",
  "#/r/q1",
  "#/s/s1",
  "#/sessions",
  "#/receipts",
  "#/rules",
  "#/devices",
  "#/stats",
];

/** Elements that run past the right edge of the page, though the page does not show that it could be scrolled. */
export function overflow(page: Tab["page"]): Promise<string[]> {
  return page.evaluate<string[]>(`{
    const wide = document.documentElement.scrollWidth > innerWidth ? ["the page: " + document.documentElement.scrollWidth] : [];
    const scrolls = (one) => one && one !== document.body && (getComputedStyle(one).overflowX !== "visible" || scrolls(one.parentElement));
    for (const one of document.querySelectorAll("body *")) {
      const { right, width } = one.getBoundingClientRect();
      if (width > 1 && right > innerWidth + 1 && !scrolls(one)) wide.push(one.outerHTML.slice(0, 120) + " ends at " + Math.round(right));
    }
    wide;
  }`);
}
