/** Where git's subcommand stands: after its own options, of which some take the next word. */
export function subcommandAt(args: readonly string[]): number {
  let at = 0;
  while (args[at]?.startsWith("-") === true) at += valued.has(args[at]!) ? 2 : 1;
  return at;
}

const valued = new Set("-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source".split(" "));

/** Words after `git config` that only ask for a value: in the older spelling, or with the subcommands of the newer one. */
export function asksConfig(args: readonly string[]): boolean {
  const options = args.filter((arg) => arg.startsWith("-"));
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const isPlain = options.every((arg) => plainConfig.test(arg));
  if (!isPlain) return false;
  if (/^(get|list)$/.test(operands[0] ?? "")) return true;
  if (/^(set|unset|rename-section|remove-section|edit)$/.test(operands[0] ?? "")) return false;
  if (
    options.some((arg) =>
      /^(--get|--get-all|--get-regexp|--get-urlmatch|--list|-l|--get-color|--get-colorbool)$/.test(arg),
    )
  )
    return true;
  return operands.length === 1 && operands[0]!.includes(".");
}

const plainConfig =
  /^(--(global|local|system|worktree|show-origin|show-scope|name-only|null|no-null|bool|int|bool-or-int|path|includes|no-includes|type=[a-z-]*|default=[^]*|get|get-all|get-regexp|get-urlmatch|get-color|get-colorbool|list|all|regexp|fixed-value|value=[^]*)|-z|-l)$/;
