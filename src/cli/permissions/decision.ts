import { judge } from "../../permission/judge.ts";
import type { PermissionMode, PermissionResult, Rule, ToolInput } from "../../protocol/index.ts";
import { canonicalPath } from "../../tools/path.ts";
import { builtinTools } from "../../tools/registry.ts";

export type Question = {
  rules: readonly Rule[];
  mode: PermissionMode;
  cwd: string;
  home: string;
  roots: readonly string[];
  tool: string;
  input: ToolInput;
  requiresUserInteraction?: boolean;
};

/** The very decision that the loop makes. */
export async function loadDecision(): Promise<(question: Question) => PermissionResult> {
  const tools = new Map(builtinTools().map((tool) => [tool.name, tool]));
  return ({ rules, mode, cwd, home, roots, tool, input, requiresUserInteraction }) => {
    const known = tools.get(tool);
    const where = { cwd, home, roots, mode };
    return judge({
      rules,
      mode,
      cwd,
      home,
      real: (path) => canonicalPath(path, cwd).real,
      tool: { name: tool, requiresUserInteraction: requiresUserInteraction ?? known?.requiresUserInteraction },
      specifier: known?.specifier?.(input, where),
      check: () => known?.checkPermissions?.(input, where) ?? { behavior: "passthrough", reason: "" },
    });
  };
}
