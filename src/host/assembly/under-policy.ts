import { homedir } from "node:os";
import { canonicalJson } from "../../base/canonical-json.ts";
import { sageHome } from "../../config/home/home.ts";
import { readPolicy, sandboxUnder, type Policy } from "../../config/settings/policy.ts";
import { noSandbox, sandboxOf, type Sandbox } from "../../config/settings/sandbox.ts";
import type { SandboxSettings } from "../../config/settings/sandbox-schema.ts";
import { ageMs } from "../../config/settings/settings.ts";
import type { Store } from "../../journal/store/store.ts";
import type { Rule } from "../../protocol/facts/permission.ts";
import type { AgentParts } from "./agent-parts.ts";

/** The parts under the machine's policy, whoever made them. `signed`: requests whose yes takes proof in every run. */
export function underPolicy(
  parts: AgentParts,
  policy: Policy | undefined = readPolicy(),
): { parts: AgentParts; signed: readonly ("hard" | "permission")[] } {
  if (!policy) return { parts, signed: [] };
  const sandbox = policy.sandbox && confinedBy(parts.sandbox ?? noSandbox, policy.sandbox, parts.env);
  const rules = withRules(parts.rules, policy.rules);
  return { parts: { ...parts, rules, ...(sandbox && { sandbox }) }, signed: policy.signed ?? [] };
}

/** A list that has them is left as it is: it grows while people save rules. */
function withRules(given: readonly Rule[], managed: readonly Rule[]): readonly Rule[] {
  const known = new Set(given.map(canonicalJson));
  const missing = managed.filter((rule) => !known.has(canonicalJson(rule)));
  return missing.length === 0 ? given : [...missing, ...given];
}

function confinedBy(own: Sandbox, policy: SandboxSettings, env: NodeJS.ProcessEnv): Sandbox {
  const sandbox = sandboxUnder(own as SandboxSettings, policy);
  const place = { root: homedir(), state: sageHome(env).dir };
  return sandboxOf([{ settings: { sandbox }, destination: "user" }], place).sandbox;
}

/** Deletes what is past the policy's retention, as `sage` does at its start. Failures wait for the next start; an unfit policy throws. */
export function keepAsPolicy(
  store: Store,
  { env = process.env, output }: { env: NodeJS.ProcessEnv | undefined; output(): string },
): Promise<void> {
  const { sessions, receipts } = readPolicy()?.retention ?? {};
  // A shared journal is no machine's.
  if ((sessions ?? receipts) === undefined || store.shared) return Promise.resolve();
  const carryOut = async () => {
    const { retain } = await import("../../archive/sessions.ts");
    const ages = { sessions: ageMs(sessions), receipts: ageMs(receipts) };
    await retain(store, { settings: sageHome(env).settings, output: output() }, ages);
  };
  return carryOut().catch((error: unknown) => process.emitWarning(error as Error));
}
