import { programsOf } from "./words.ts";

/**
 * Options that make a harmless looking program run another one or write a file. A star does not cover them.
 * `-x` is found inside a cluster too, `-word` and `--word*` by their beginning, `--word` also abbreviated.
 */
const options = new Map(
  Object.entries({
    "find gfind": "-exec -ok -delete -fprint -fls",
    "fd fdfind": "-x -X --exec*",
    rg: "--pre --hostname-bin -z --search-zip",
    "sort gsort": "-o --output --compress-program -T --temporary-directory",
    "tar gtar bsdtar":
      "--to-command --checkpoint-action -I -F --use-compress-program --rsh-command --info-script --new-volume-script",
    git: "-c --config-env --exec-path --upload-pack --receive-pack --ext-diff --output -O --open-files-in-pager -x",
    "less man": "-P --pager -H -o -O --log-file --html",
    tree: "-o",
    date: "-s --set",
    file: "-f -m -C --files-from --magic-file --compile",
    xxd: "-r",
  }).flatMap(([names, list]) => names.split(" ").map((name) => [name, list.split(" ")] as const)),
);

type Check = (args: readonly string[]) => boolean;

const checks = new Map<string, Check>([
  ...["sed", "gsed"].map((name) => [name, (args) => !isPlainSed(args)] as [string, Check]),
  ...["awk", "gawk", "mawk", "nawk"].map((name) => [name, (args) => !isPlainAwk(args)] as [string, Check]),
  ...["tar", "gtar", "bsdtar"].map((name) => [name, (args) => /[IF]/.test(args[0] ?? "")] as [string, Check]),
  ...["uniq", "xxd"].map(
    (name) => [name, (args) => args.filter((arg) => !arg.startsWith("-")).length > 1] as [string, Check],
  ),
]);

/** What stands literally in the rule was meant. */
export function escalates(words: readonly string[], literal: ReadonlySet<string>): boolean {
  for (const [program, at] of programsOf(words)) {
    const check = checks.get(program);
    const risky = options.get(program) ?? [];
    if (check === undefined && risky.length === 0) continue;
    const args = words.slice(at + 1).filter((arg) => !literal.has(arg));
    if (check?.(args) === true) return true;
    if (args.some((arg) => arg.startsWith("-") && risky.some((option) => uses(arg, option)))) return true;
  }
  return false;
}

function uses(arg: string, option: string): boolean {
  if (option.startsWith("--")) {
    const name = option.replace("*", "");
    const given = arg.split("=", 1)[0]!;
    return (
      given.length > 2 &&
      given.startsWith("--") &&
      (name.startsWith(given) || (name !== option && given.startsWith(name)))
    );
  }
  if (option.length > 2) return arg.startsWith(option);
  return !arg.startsWith("--") && arg.includes(option.charAt(1), 1);
}

/** One script of addresses with a harmless command, or one substitution without `e` or `w`. */
function isPlainSed(args: readonly string[]): boolean {
  const flags = args.filter((arg) => arg.startsWith("-"));
  const script = args.find((arg) => !arg.startsWith("-")) ?? "";
  if (!flags.every((flag) => /^-[nErsuz]+$/.test(flag))) return false;
  if (/^[0-9]*(,[0-9]+)?[pdq=]$/.test(script)) return true;
  const [command, pattern, replacement, after, ...more] = script.split(script.charAt(1));
  return (
    command === "s" &&
    pattern !== undefined &&
    replacement !== undefined &&
    /^[gpiI0-9]*$/.test(after ?? "-") &&
    more.length === 0
  );
}

function isPlainAwk(args: readonly string[]): boolean {
  return args.every((arg) => (arg.startsWith("-") ? /^-(v$|F)/.test(arg) : !/system|getline|[|>@]/.test(arg)));
}
