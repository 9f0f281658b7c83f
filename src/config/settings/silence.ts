import * as z from "../../base/z.ts";
import type { RequestTimeout } from "../../protocol/facts/silence.ts";
import type { ExecutionOptions, QuietHours } from "../../protocol/host/options.ts";
import type { Settings } from "./settings.ts";

export const time = z.string().regex(/^[1-9]\d{0,4}[smhd]$/, "time-span");
const silentEnd = z.enum(["fail", "cancel", "deny"]);
const fields = {
  after: time.optional().describe("How long a request waits for an answer; for ever by default"),
  policy: z
    .union([
      z.enum(["wait", "fail", "cancel", "deny"]),
      z.strictObject({ escalate: z.array(z.string()).min(1), end: silentEnd.default("deny") }),
      z.strictObject({
        default: z.union([
          z.strictObject({ type: z.literal("denied"), reason: z.string().optional() }),
          z.strictObject({ type: z.literal("text"), text: z.string() }),
          z.strictObject({
            type: z.literal("answers"),
            answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
            remark: z.string().optional(),
          }),
        ]),
      }),
    ])
    .optional()
    .describe(
      "What happens then: it waits on, the turn fails or is cancelled, the request counts as refused (the default); `escalate` asks these people of `people` first, in order; `default` is an answer, never a yes",
    ),
  remind: time.optional().describe("How often those who were asked are reminded; once, late in the wait, by default"),
};
export const silence = z.strictObject(fields);
/** Silence of a whole run, and of single tools in it. */
export const silenceOfRun = z.strictObject({
  ...fields,
  tools: z.record(z.string(), silence).optional().describe("The same for single tools, by name"),
});
export const quietHours = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/;

/** `30m` in ms. */
export function timeMs(time: string): number {
  return Number.parseInt(time, 10) * { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[time.at(-1) as "s"];
}

/** The silence of settings as the options of a run and of a request have it. */
export function timeoutOf(said: z.infer<typeof silence> | undefined): RequestTimeout | undefined {
  if (!said) return undefined;
  const { after, policy, remind } = said;
  return {
    ...(after !== undefined && { timeoutMs: timeMs(after), timeoutPolicy: "deny" }),
    ...(policy !== undefined && { timeoutPolicy: policy as NonNullable<RequestTimeout["timeoutPolicy"]> }),
    ...(remind !== undefined && { remindEvery: timeMs(remind) }),
  };
}

export function silenceOptions({
  silence: said,
  people = {},
  signed,
}: Pick<Settings, "silence" | "people" | "signed">): Partial<ExecutionOptions> {
  const { timeoutMs, timeoutPolicy, remindEvery } = timeoutOf(said) ?? {};
  const tools = Object.entries(said?.tools ?? {}).map(([tool, silence]) => [tool, timeoutOf(silence) ?? {}] as const);
  const hours = Object.entries(people).flatMap(([name, { quiet }]) => {
    const parsed = quiet === undefined ? undefined : hoursIn(quiet);
    return parsed ? [[name, parsed] as const] : [];
  });
  const approvers = Object.entries(people).flatMap(([name, { roles }]) => (roles.includes("approver") ? [name] : []));
  return {
    ...(timeoutMs !== undefined && { promptTimeout: timeoutMs }),
    ...(timeoutPolicy !== undefined && { timeoutPolicy }),
    ...(remindEvery !== undefined && { remindEvery }),
    ...(signed && { signed }),
    ...(tools.length > 0 && { silence: Object.fromEntries(tools) }),
    ...(hours.length > 0 && { quiet: { hours: Object.fromEntries(hours), approvers } }),
  };
}

/** Names that are to be asked when nobody answers, and that `people` does not have: nobody would hear of it. */
export function strangersIn({ silence: said, people = {}, permissions }: Settings): string[] {
  const all = [
    said,
    ...Object.values(said?.tools ?? {}),
    ...permissions.ask.map((rule) => (typeof rule === "string" ? undefined : rule.silence)),
  ];
  const named = all.flatMap((rule) =>
    typeof rule?.policy === "object" && "escalate" in rule.policy ? rule.policy.escalate : [],
  );
  return [...new Set(named)].filter((name) => !Object.hasOwn(people, name));
}

function hoursIn(text: string): QuietHours | undefined {
  const [, fromHour, fromMinute, toHour, toMinute] = quietHours.exec(text) ?? [];
  if (toMinute === undefined) return undefined;
  return { from: Number(fromHour) * 60 + Number(fromMinute), to: Number(toHour) * 60 + Number(toMinute) };
}
