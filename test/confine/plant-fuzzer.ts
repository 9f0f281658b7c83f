// Plants by chance: what attackers do, put together in any order and spread over one, two or three commands.
import { dice, type Dice } from "../faults/rounds.ts";

const folders =
  "sub sub/in packages packages/a docs tools lib store half node_modules node_modules/p node_modules/p/q a a/b .github gh .config c .vscode v .".split(
    " ",
  );
const files =
  "AGENTS.md .envrc .mcp.json CLAUDE.md GEMINI.md tasks.json instructions/x.md git/config envrc later.md guide.md .vscode/tasks.json".split(
    " ",
  );
const parts = "HEAD objects refs config commondir hooks .git .git/config .git/hooks .git/modules".split(" ");

/** Stories of a seed: the same for the same one. */
export function storiesOf(seed: number, count: number): Record<string, readonly string[]> {
  const chance = dice(seed * 7_919 + 1);
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${seed}/${at}`, storyOf(chance)]));
}

function storyOf(chance: Dice): string[] {
  const commands: string[][] = Array.from({ length: 1 + chance.below(3) }, () => []);
  const acts = 3 + chance.below(8);
  for (let at = 0; at < acts; at++) commands[Math.floor((at * commands.length) / acts)]!.push(actOf(chance));
  return commands.map((lines) => lines.map((line) => `( ${line} ) 2>/dev/null`).join("\n"));
}

function actOf(chance: Dice): string {
  const folder = () => chance.pick(folders);
  const name = () => chance.pick([...files, ...folders, ...parts]);
  const path = () => `${folder()}/${name()}`;
  const file = () => `${folder()}/${chance.pick(files)}`;
  const near = () => chance.pick(["", "../", "../../"]) + chance.pick([name(), path()]);
  const acts: (() => string)[] = [
    () => `f=${file()}; mkdir -p "\${f%/*}"; echo EVIL > $f`,
    () => `f=${file()}; mkdir -p "\${f%/*}"; echo EVIL >> $f`,
    () => `mkdir -p ${path()}`,
    () => `mv -T ${chance.pick([folder(), path()])} ${chance.pick([folder(), path()])}`,
    () => `mv ${path()} ${folder()}/`,
    () => `ln -sfn ${near()} ${path()}`,
    () => `ln -s ${near()} ${folder()}`,
    () => `ln ${path()} ${path()}`,
    () => `cp -a ${folder()} ${folder()}`,
    () => `rm -rf ${path()}`,
    () => `chmod ${chance.pick(["000", "311", "555", "755", "u+s"])} ${chance.pick([folder(), path()])}`,
    () => `git init -q ${chance.chance(0.5) ? "--bare " : ""}${folder()}`,
    () => `bare ${folder()}`,
    () => `evil ${folder()}/${chance.pick(["config", ".git/config", ".git/modules/m/config", "config.worktree"])}`,
    () =>
      `hook ${folder()}/${chance.pick(["hooks", ".git/hooks"])}/${chance.pick(["pre-commit", "post-index-change"])}`,
    () => `echo 'gitdir: ${near()}' > ${folder()}/.git`,
    () => `echo ${near()} > ${folder()}/commondir`,
    () => `python3 -c 'import ctypes; ctypes.CDLL(None).syscall(316,-100,b"${path()}",-100,b"${path()}",2)'`,
  ];
  return chance.pick(acts)();
}
