import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "../../base/z.ts";
import { loadRules } from "../../permission/rules/rules.ts";
import type { ConfineMode } from "../../protocol/confine.ts";
import type { Rule } from "../../protocol/facts/permission.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { readSmallFile } from "../files/small-file.ts";
import { sandboxSchema, type SandboxSettings } from "./sandbox-schema.ts";
import { parseSettings, type Settings } from "./settings.ts";

const approvals = z.strictObject({
  rule: z.string(),
  approvals: z.number().int().min(1).max(9).optional(),
  notAsker: z.boolean().optional(),
});
const age = z.string().regex(/^[1-9]\d{0,4}[hdw]$/, "expected hours, days or weeks, such as 90d");
const policySchema = z.strictObject({
  permissions: z
    .strictObject({
      deny: z.array(z.string()).default([]),
      ask: z.array(z.union([z.string(), approvals])).default([]),
    })
    .prefault({}),
  sandbox: sandboxSchema.optional(),
  signed: z.array(z.enum(["hard", "permission"])).optional(),
  retention: z.strictObject({ sessions: age.optional(), receipts: age.optional() }).optional(),
});

/** Settings of whoever runs the machine. Nobody's own settings, answers or flags loosen them. */
export type Policy = Pick<z.infer<typeof policySchema>, "sandbox" | "signed" | "retention"> & {
  path: string;
  rules: Rule[];
};

/** The platform's place for settings of a machine. No variable moves it: then everybody could. */
const places: Partial<Record<NodeJS.Platform, string>> = {
  linux: "/etc/sage/policy.json",
  darwin: "/Library/Application Support/Sage/policy.json",
  win32: "C:\\ProgramData\\Sage\\policy.json",
};

export const policyPath = places[process.platform];

const ROOT = 0;
const WRITABLE_BY_OTHERS = 0o022;

/** Undefined where there is none. A file that somebody else than its owner may write, or that cannot be understood, stops the start. */
export function readPolicy({ path = policyPath, owner = ROOT } = {}): Policy | undefined {
  if (path === undefined) return undefined;
  const text = readSmallFile(path);
  if (text === undefined) return undefined;
  for (const each of [path, dirname(path)]) checkOwner(each, owner, path);
  const { permissions, sandbox, signed, retention } = parseSettings(policySchema, path, text);
  const hidden = (sandbox?.hidden ?? []).map((file): Rule => ({
    behavior: "deny",
    text: `Read(${file})`,
    source: "managed",
  }));
  const rules = [...loadRules(permissions, "managed").rules, ...hidden];
  return { path, rules, ...(sandbox && { sandbox }), ...(signed && { signed }), ...(retention && { retention }) };
}

/** The person's settings below the policy: its word on the sandbox and on retention stands in the place of theirs, its wish for proof beside it. */
export function underPolicy(settings: Settings, policy: Policy | undefined): Settings {
  if (!policy) return settings;
  const { sandbox, signed, retention } = policy;
  return {
    ...settings,
    ...(signed && { signed: [...new Set([...signed, ...(settings.signed ?? [])])] }),
    ...(sandbox && { sandbox: sandboxUnder(settings.sandbox ?? {}, sandbox) }),
    ...(retention && { retention: { ...settings.retention, ...retention } }),
  };
}

/** A policy that names no mode only adds to the person's sandbox, and none switches one off, or lets more run in it without asking. */
export function sandboxUnder(own: SandboxSettings, policy: SandboxSettings): SandboxSettings {
  const hidden = [...new Set([...(policy.hidden ?? []), ...(own.hidden ?? [])])];
  const mode = policy.mode === undefined || isStricter(own.mode, policy.mode) ? own.mode : policy.mode;
  return {
    ...((policy.mode ?? "off") === "off" && own),
    ...policy,
    ...(mode && { mode }),
    ...(hidden.length > 0 && { hidden }),
  };
}

const modes: readonly ConfineMode[] = ["off", "autoAllow", "contain"];

function isStricter(mode: ConfineMode | undefined, than: ConfineMode): boolean {
  return modes.indexOf(mode ?? "off") > modes.indexOf(than);
}

/** A link leads to whatever its owner likes. On Windows the folder's own rights are the administrator's. */
function checkOwner(path: string, owner: number, policy: string): void {
  if (process.platform === "win32") return;
  const found = lstatSync(path);
  if (!found.isSymbolicLink() && found.uid === owner && (found.mode & WRITABLE_BY_OTHERS) === 0) return;
  throw new SageError("config-invalid", reason("policy-unsafe", { path, policy }));
}
