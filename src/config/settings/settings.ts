import { join } from "node:path";
import { loadRules } from "../../permission/rules/rules.ts";
import type { RuleDestination } from "../../protocol/decision.ts";
import type { Rule } from "../../protocol/facts/permission.ts";
import { reason, type Reason, messageOf, reasonOf, SageError } from "../../protocol/reasons/reason.ts";
import { misfits } from "../../protocol/reasons/misfit.ts";
import * as z from "../../base/z.ts";
import { effort, guestName, guests, hosts, limit, price, provider, serve, webSearch } from "./model-settings.ts";
import { changeFile } from "../files/locked-file.ts";
import { serversSchema } from "./servers.ts";
import { sandboxSchema as sandbox } from "./sandbox-schema.ts";
import { quietHours, silence, silenceOfRun, time, timeoutOf } from "./silence.ts";
import { readSmallFile } from "../files/small-file.ts";

const rules = (what: string) =>
  z.array(z.string()).default([]).describe(`${what}, each \`Tool\` or \`Tool(specifier)\``);
const askRule = z.strictObject({
  rule: z.string(),
  approvals: z.number().int().min(1).max(9).optional().describe("People who have to approve it; one by default"),
  notAsker: z.boolean().optional().describe("None of them may be somebody who asked for it, by a message of the turn"),
  silence: silence.optional().describe("What happens when nobody answers; in your own settings only"),
});
const permissions = z
  .strictObject({
    deny: rules("Calls that never run"),
    ask: z
      .array(z.union([z.string(), askRule]))
      .default([])
      .describe("Calls that a person is always asked about, each a rule or a rule with its approvals"),
    allow: rules("Calls that run without asking"),
  })
  .prefault({});

const hook = z.strictObject({
  matcher: z.string().default("*").describe("Which tools it is for: `Bash`, `Edit|Write`, `*`"),
  command: z.string().min(1).describe("A shell command: the event as JSON on stdin, an answer as JSON on stdout"),
  timeoutMs: z.number().int().positive().max(600_000).default(60_000),
});
const hookMoments = ["beforeCall", "afterCall", "permissionRequest", "waiting", "sessionStart", "sessionEnd"] as const;
const hooks = z.partialRecord(z.enum(hookMoments), z.array(hook)).default({});

// Absent where nothing is named: the digest of what was trusted before this setting existed stays as it is.
const modules = z
  .array(z.string().min(1))
  .optional()
  .describe("JavaScript files, relative to this one, that add tools and subagents of your own");

export const shared = { $schema: z.string().optional(), permissions, hooks, modules, sandbox: sandbox.optional() };

const openId = z.string().regex(/^ou_\w+$/, "open-id");
const chatSettings = {
  lang: z.enum(["en", "zh"]).optional().describe("Of texts for clients that speak neither, and of files"),
  promptTimeout: time.optional().describe("How long a request waits for an answer; 5m by default"),
  timeoutPolicy: z
    .union([
      z.enum(["wait", "fail", "cancel", "deny"]),
      z.strictObject({
        escalate: z.array(z.string()).min(1),
        end: z.enum(["fail", "cancel", "deny"]).default("cancel"),
      }),
    ])
    .optional()
    .describe(
      "What happens then: the task is cancelled (the default) or fails, the request counts as refused, or it waits for ever; `escalate` calls these people of `people` first, one after the other",
    ),
  taskLimit: time.optional().describe("How long a task may work, waiting not counted; 30m by default"),
};
const bot = {
  appId: z.string().optional().describe("cli_ and 16 hex digits, from the developer console"),
  domain: z.string().optional().describe("feishu, lark, or the origin of a platform of your own"),
  mode: z
    .enum(["socket", "webhook"])
    .optional()
    .describe("How events come: over a connection that Sage opens (socket), or to an address of yours (webhook)"),
  allowedUsers: z
    .union([z.literal("anyone"), z.array(openId)])
    .optional()
    .describe("May give tasks, beside those in `people`: open ids, or anyone who can write to the bot"),
  approvers: z.array(openId).optional().describe("May allow and refuse, beside those in `people`"),
  tenant: z.string().optional().describe("The one organisation these people belong to; learned from the first event"),
  cwd: z.string().optional().describe("Where tasks work; the folder in which `sage serve` was started by default"),
  folders: z.array(z.string()).optional().describe("Where else they may work, with /cd"),
  models: z.array(z.string()).optional().describe("Which models may be chosen with /model"),
  agents: z
    .array(guestName)
    .optional()
    .describe("Which other agents may run sessions, with /agent; only an approver begins such a session"),
  chats: z
    .record(
      z.string().regex(/^oc_\w+$/, "chat-id"),
      z.strictObject({ workspace: z.string().optional(), ...chatSettings }),
    )
    .optional()
    .describe("What single chats have of their own; /bind, /timeout and /lang write here"),
  ...chatSettings,
};
const feishu = z
  .strictObject({
    ...bot,
    bots: z
      .record(z.string().regex(/^[a-z][a-z0-9]{0,19}$/, "bot-name"), z.strictObject(bot))
      .optional()
      .describe("Further bots in the same daemon, by name; the secret of `ops` is FEISHU_APP_SECRET_OPS"),
  })
  .describe("Sage in Feishu or Lark; secrets are kept apart, see docs/feishu.md");
export const roles = ["talker", "approver", "administrator"] as const;
const people = z
  .record(
    z.string().min(1).max(60),
    z.strictObject({
      ids: z
        .array(z.string().regex(/^(feishu:ou_\w+|account:\S+|device:\S+|proxy:\S+)$/, "person-id"))
        .describe(
          "By which they are known: in Feishu, as a user of this machine, by a device of theirs, by the name that a proxy gives them",
        ),
      roles: z.array(z.enum(roles)).default([]).describe("An approver may also give tasks"),
      quiet: z
        .string()
        .regex(quietHours, "quiet-hours")
        .optional()
        .describe("Hours in which they are not called, such as 22:00-08:00, on this machine's clock"),
    }),
  )
  .superRefine((listed, context) => {
    const seen = new Map<string, string>();
    for (const [name, { ids }] of Object.entries(listed))
      for (const id of new Set(ids)) {
        const other = seen.get(id);
        if (other !== undefined)
          context.addIssue({ code: "custom", params: { why: reason("id-of-two", { id, people: [other, name] }) } });
        seen.set(id, name);
      }
  })
  .describe("Who people are, by the name that receipts give them, for every surface");
const age = z
  .string()
  .regex(/^[1-9]\d{0,4}[hdw]$/, "expected hours, days or weeks, such as 90d")
  .optional();

const spending = z
  .strictObject({ tokens: z.number().int().positive().optional(), usd: z.number().positive().optional() })
  .optional();

const userSchema = z.strictObject({
  ...shared,
  feishu: feishu.optional(),
  people: people.optional(),
  signed: z
    .array(z.enum(["hard", "permission"]))
    .optional()
    .describe(
      "Requests whose yes has to come from a paired device that is another machine, or with a passkey on the page: those that only a person may answer (hard), or every permission; none by default",
    ),
  silence: silenceOfRun.optional().describe("What happens to a request that nobody answers, and when"),
  mcpServers: serversSchema.optional().describe("MCP servers by name: tools from outside, see docs/mcp.md"),
  mcpDeferAbove: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe("With more tools of MCP servers than this, the model is told their names and searches; 40 by default"),
  workspaces: z
    .record(z.string().regex(/^[\w.-]{1,40}$/), z.string())
    .optional()
    .describe("Folders by name, or remotes such as git+https://host/path.git#branch; /bind gives a chat one of them"),
  remotes: z
    .array(z.string())
    .optional()
    .describe("Repositories, or starts of their addresses, that a worker of this machine clones; none by default"),
  serve: serve.optional(),
  hosts: hosts.optional(),
  model: z.string().optional().describe("provider/name, as for --model"),
  agent: guestName.optional().describe("The agent that runs new sessions in Sage's place, as for --agent"),
  agents: guests.optional(),
  smallModel: z
    .string()
    .optional()
    .describe(
      "Writes summaries of long conversations (the model itself by default) and titles of sessions (their first message by default)",
    ),
  maxContextTokens: limit.describe("How long a prompt may grow; what the model can take by default"),
  maxOutputTokens: limit.describe(
    "How long one reply may grow, in tokens; by default what the model is known to write",
  ),
  autoCompactThreshold: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe("Room is made when a prompt is longer than this part of it; 0.8 by default"),
  content: z
    .array(z.string().min(1))
    .optional()
    .describe("Further folders of yours with skills/, agents/ and commands/, such as ~/.claude"),
  matchingSkill: z
    .enum(["offer", "inject"])
    .optional()
    .describe(
      "What happens with a skill that fits: the model is told of it (offer, the default) or gets its text at once",
    ),
  effort: effort.optional(),
  wake: z
    .boolean()
    .optional()
    .describe("A background command that ends while nothing runs begins a turn; true by default"),
  webSearch: webSearch.optional(),
  fallbackModel: z.string().optional().describe("Goes on with a turn for which the model cannot be had"),
  providers: z.record(z.string(), provider).default({}),
  retention: z
    .strictObject({
      sessions: age.describe("Sessions in which nothing happened for so long are deleted, unless a turn is open"),
      receipts: age.describe("Who allowed what in deleted sessions is kept for so long"),
    })
    .optional()
    .describe("How long things are kept, such as 90d; for ever where nothing is said"),
  limits: z
    .strictObject({
      turn: spending.describe("Of one turn, with its subagents"),
      session: spending.describe("Of one session"),
      person: spending.describe("Of all turns that one person began on a day"),
      day: spending.describe("Of all turns on a day, as the clock of this machine counts it"),
      people: z.record(z.string(), spending).optional().describe("Other amounts than `person` for somebody, by name"),
    })
    .optional()
    .describe("What may be used before you are asked whether to go on"),
  prices: z.record(z.string(), price).default({}).describe("What a model costs, by provider/name"),
  theme: z
    .enum(["auto", "light", "dark"])
    .optional()
    .describe("Colours for a light or a dark terminal; auto (the default) asks the terminal"),
  editor: z.enum(["default", "vim"]).optional().describe("Keys of the editor on the screen"),
  statusLine: z
    .strictObject({
      type: z.literal("command"),
      command: z.string().min(1).describe("The state of the session as JSON on stdin; its first line is shown"),
    })
    .optional()
    .describe("A command of yours that writes the last line of the screen"),
  notify: z
    .strictObject({
      command: z.string().min(1).optional().describe("Run when a request waits, with the text in SAGE_NOTICE"),
    })
    .optional(),
});

/** `90d` in ms. */
export function ageMs(age: string | undefined): number | undefined {
  if (age === undefined) return undefined;
  return Number.parseInt(age, 10) * { h: 3_600_000, d: 86_400_000, w: 604_800_000 }[age.at(-1) as "h" | "d" | "w"];
}

/** A project tightens, and grants only what the person has trusted. It never chooses who is asked, or where keys go. */
export const projectSchema = z.object(shared);

const DRAFT = "https://json-schema.org/draft/2020-12/schema";

/** For editors: what a settings file may hold, as JSON Schema. */
export function settingsSchema(): object {
  return { title: "Settings of Sage", $schema: DRAFT, ...userSchema.json() };
}

export type { WebSettings } from "./model-settings.ts";
export type Settings = z.infer<typeof userSchema>;
export type FeishuSettings = z.infer<typeof feishu>;
export type BotSettings = Omit<FeishuSettings, "bots">;
export type PeopleSettings = z.infer<typeof people>;
export type ProjectSettings = z.infer<typeof projectSchema>;

/** The person's own settings. A file that cannot be understood stops the start: a deny rule in it must not be lost silently. */
export function readSettings(path: string): Settings {
  const text = readSmallFile(path);
  // Nothing to check: most starts are of this kind, and the first check costs milliseconds.
  if (text === undefined)
    return { permissions: { deny: [], ask: [], allow: [] }, hooks: {}, providers: {}, prices: {} };
  return parseSettings(userSchema, path, text);
}

/** Changes the person's own settings; what is not meant stays as it stands. */
export function changeSettings(path: string, change: (settings: Partial<Settings>) => Partial<Settings>): void {
  readSettings(path); // a file that cannot be understood is somebody's work in progress: never overwritten
  changeFile(path, (text) => {
    const settings = text.trim() === "" ? {} : (JSON.parse(text) as Partial<Settings>);
    return `${JSON.stringify(change(settings), undefined, 2)}\n`;
  });
}

export function commandsOf({ hooks: all }: Pick<ProjectSettings, "hooks">): string[] {
  return Object.values(all).flatMap((list) => (list ?? []).map(({ command }) => command));
}

export function projectFiles(root: string): Record<"project" | "local", string> {
  return { project: join(root, ".sage", "settings.json"), local: join(root, ".sage", "settings.local.json") };
}

export function rulesOf(
  settings: { permissions: Settings["permissions"] },
  source: RuleDestination,
  path: string,
): { rules: Rule[]; warnings: Reason[] } {
  try {
    const { ask, ...others } = settings.permissions;
    const listed = ask.map((rule) => (typeof rule === "string" ? rule : { ...rule, silence: timeoutOf(rule.silence) }));
    const loaded = loadRules({ ...others, ask: listed }, source);
    const warnings = loaded.warnings.map((problem) => reason("in-file", { path, problem }));
    return { rules: loaded.rules, warnings };
  } catch (error) {
    throw new SageError("config-invalid", reason("in-file", { path, problem: reasonOf(error) }));
  }
}

export function parseSettings<T>(schema: z.Schema<T>, path: string, text: string): T {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new SageError("config-invalid", reason("file-not-json", { path, problem: messageOf(error) }));
  }
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  throw new SageError(
    "config-invalid",
    reason("file-unfit", { path, problem: misfits(parsed.error, data, (at) => schema.keysAt(at)) }),
  );
}
