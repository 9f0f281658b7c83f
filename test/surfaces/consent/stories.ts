// What a person may consent to, once: each surface plays every one of these, or says in the table why it cannot.
import type { RuleDestination } from "../../../src/protocol/decision.ts";

export type Place = RuleDestination;
export type Call = { tool: string; input: Record<string, unknown> };

/** How the first request is answered. */
export type Consent =
  | { type: "once" }
  | { type: "edited"; command: string }
  /** The rules that are offered as needed, all of them. */
  | { type: "always"; place: Place }
  | { type: "unask" }
  | { type: "narrower" }
  | { type: "mode" };

export type Story = {
  name: string;
  /** Settings of the person. */
  permissions?: { allow?: string[]; ask?: string[] };
  /** Commands run in a sandbox. */
  confined?: true;
  /** The session plans first. */
  plans?: true;
  calls: readonly Call[];
  consent: Consent;
  /** Must be read before one consents. */
  preview: readonly string[];
  /** Calls of the turn that are asked about. */
  asks: readonly number[];
  /** Rules that the place has afterwards; those of the person's settings as they are then. */
  keeps?: { place: Exclude<Place, "session">; permissions: object };
  /** The rules of the session. */
  holds?: readonly string[];
  receipt: RegExp;
  /** Undone, the second call is asked about again. Without it there is nothing to undo. */
  undo?: true;
};

const bash = (command: string): Call => ({ tool: "Bash", input: { command } });
const write = (name: string): Call => ({ tool: "Write", input: { file_path: name, content: "x\n" } });
const curl = bash("curl -sS http://shop.test/");
const rule = "Bash(just a:*)";

const always = (place: Place): Story => ({
  name: `a rule for ${place}`,
  calls: [bash("just a"), bash("just a -v")],
  consent: { type: "always", place },
  preview: [rule],
  asks: [0],
  ...(place === "session" ? { holds: [rule] } : { keeps: { place, permissions: { allow: [rule] } } }),
  receipt: /^allowed, always with Bash\(just a:\*\) \(/,
  undo: true,
});
const asking = { allow: ["Bash(just:*)"], ask: ["Bash(just:*)"] };

export const stories: readonly Story[] = [
  {
    name: "once",
    calls: [bash("just a"), bash("just a")],
    consent: { type: "once" },
    preview: ["just a"],
    asks: [0, 1],
    receipt: /^allowed$/,
  },
  {
    name: "once, with the input edited",
    calls: [bash("just a"), bash("just a")],
    consent: { type: "edited", command: "just b" },
    preview: ["just a"],
    asks: [0, 1],
    receipt: /^allowed with changes$/,
  },
  ...(["session", "local", "project", "user"] as const).map(always),
  {
    name: "several rules together",
    calls: [bash("just a && cargo test"), bash("just a"), bash("cargo test")],
    consent: { type: "always", place: "session" },
    preview: [rule, "Bash(cargo test:*)"],
    asks: [0],
    holds: [rule, "Bash(cargo test:*)"],
    receipt: /just a.*cargo test/,
    undo: true,
  },
  {
    name: "a host",
    confined: true,
    permissions: { allow: ["Bash(curl:*)"] },
    calls: [curl, curl, curl], // the sandbox keeps the first one from it, and the second asks
    consent: { type: "always", place: "session" },
    preview: ["Network(domain:shop.test)"],
    asks: [1],
    holds: ["Network(domain:shop.test)"],
    receipt: /^allowed, always with Network\(domain:shop\.test\) \(this session\)$/,
    undo: true,
  },
  {
    name: "the rule in the way removed",
    permissions: asking,
    calls: [bash("just a"), bash("just b")],
    consent: { type: "unask" },
    preview: ["Bash(just:*)"],
    asks: [0],
    keeps: { place: "user", permissions: { allow: asking.allow } },
    receipt: /^allowed, without the rule Bash\(just:\*\) \(.*\) from now on$/,
    undo: true,
  },
  {
    name: "a narrower rule in its place",
    permissions: asking,
    calls: [bash("just a"), bash("just b"), bash("just a -v")],
    consent: { type: "narrower" },
    preview: ["Bash(just:*)", rule],
    asks: [0, 2],
    keeps: { place: "user", permissions: { allow: asking.allow, ask: [rule] } },
    receipt: /without the rule Bash\(just:\*\).*, always with Bash\(just a:\*\) \(/,
    undo: true,
  },
  {
    name: "a mode",
    plans: true,
    calls: [{ tool: "ExitPlanMode", input: { plan: "write a and b" } }, write("a.txt"), write("b.txt")],
    consent: { type: "mode" },
    preview: ["write a and b"],
    asks: [0],
    receipt: /^allowed, accept edits/,
  },
];
