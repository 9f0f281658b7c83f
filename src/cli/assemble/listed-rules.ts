import type { Config } from "../../config/config.ts";
import { textOfRule } from "../../permission/rules/rules.ts";
import type { Rule } from "../../protocol/facts/permission.ts";

export type ListedRule = {
  behavior: Rule["behavior"];
  rule: string;
  source: Rule["source"];
  file: string;
  counts: boolean;
  approvals?: number | undefined;
  notAsker?: boolean | undefined;
};

export function listedRules({ settings, trust }: Config, userFile: string): ListedRule[] {
  const trusted = trust.state === "trusted";
  const files = [
    { path: userFile, destination: "user" as const, settings, counts: true },
    ...trust.files.map((file) => ({ ...file, counts: trusted })),
  ];
  return files.flatMap(({ path, destination, settings: { permissions }, counts }) =>
    (["deny", "ask", "allow"] as const).flatMap((behavior) =>
      permissions[behavior].map((listed) => {
        const rule = { behavior, rule: textOfRule(listed), source: destination, file: path, counts };
        return typeof listed === "string" ? rule : { ...rule, ...listed };
      }),
    ),
  );
}
