import type { Rule } from "../../../protocol/facts/permission.ts";
import { reason } from "../../../protocol/reasons/reason.ts";
import type { Reach } from "../../rules/access.ts";
import type { RuleBook } from "../../rules/book.ts";
import { pathTrouble, type Disk } from "../../paths/canonical.ts";
import { codeIn, type Fed } from "../suspect/code.ts";
import { heldCode, movesSettings, searchedFolders, setVariables } from "../suspect/set-variables.ts";
import { builtInCode, listsFiles, namesInCode } from "../suspect/names-in-code.ts";
import { viewOf, type CommandView } from "./command-view.ts";
import { hasOpaqueVariable, stepStart, stepsOf, type Flow, type Step } from "./flow/flow.ts";
import { followsOwnLink, type Linking } from "./files/links.ts";
import type { ShellGrammar } from "../read/grammar.ts";
import { literalWord, type Word } from "../read/word.ts";
import { readCommand, type CommandReading } from "./flow/command-reading.ts";
import type { Redirect, Script } from "../read/script.ts";
import { isA } from "../../programs/table.ts";
import { isHarmlessVariable } from "../../programs/harmless.ts";
import { programOf } from "../../programs/program.ts";
import { aliasIn } from "../../programs/git/aliases.ts";
import { keepingGit } from "../../programs/git/keeping.ts";
import { foldersOfGit } from "../../programs/git/git-words.ts";
import { copiedProgram } from "./files/copied-programs.ts";
import { unwrapped } from "../../programs/wrappers.ts";
import { mayRun, commandPatternOf, type PossibleCommand } from "../suspect/possible.ts";
import { builtPath, protectedPath, protectedWrite, rootRemoval, rulesAgainst } from "./files/possible-paths.ts";
import { judgeTarget, mayBeHook } from "./judge-target.ts";
import { namesIn, operandTargets, redirectTargets, type Target, type Where } from "./files/targets.ts";
import { isOwnVariable } from "../../programs/builtins.ts";
import { placeWritten } from "../../programs/guarded-programs.ts";
import { isReader } from "../../programs/files/readers.ts";
import { baseName, keywords } from "../../text/tokens.ts";
import { packed, shownByGit } from "./shown-files.ts";
import { foundWrite } from "./files/found-writes.ts";
import { servesRuledFolder, ruleInside } from "./files/served-folders.ts";
import { against, commandPart, otherWays, targetsOf, waysOf } from "./command-part.ts";
import { againstLine, pick, note, type Found, type JudgedPart, type ShellFinding } from "./shell-finding.ts";
import { unlistedParts } from "./unlisted.ts";
import { appliesPatch, patchedParts } from "./patches.ts";
import { currentFolder } from "../../programs/files/use.ts";

export type ShellCall = {
  command: string;
  book: RuleBook;
  reach: Reach;
  disk: Disk;
  cwd: string;
  home: string;
  grammar: ShellGrammar | undefined;
  /** Names of the variables that commands inherit, where they are known. */
  environment?: ReadonlySet<string> | undefined;
  /** The same command as it was read before. */
  reading?: CommandReading | undefined;
  /** Number of commands that this one is given to, each by the one before. */
  depth?: number;
  /** The line around it has git follow other settings. */
  moved?: boolean;
};

const itself = commandPatternOf("sage:*");

export function judgeShell(given: ShellCall): ShellFinding {
  const reading = given.reading ?? readCommand(given.command, given.grammar, given.home);
  const call = { ...given, moved: given.moved === true || movesSettings(reading.possible) };
  const { script } = reading;
  // An agent that runs Sage could answer its own requests, trust a folder or change the rules.
  const mustAsk = reading.trouble ?? (mayRun(itself, reading.possible) ? reason("runs-sage", {}) : undefined);
  const finding: ShellFinding = { parts: [], reading, ...call.book.against(reading.possible) };
  if (mustAsk) finding.mustAsk = mustAsk;
  const words: string[] = [];
  try {
    for (const found of script === undefined ? guess(reading, call) : prove(reading, script, call)) {
      note(finding, found);
      if (found.words) words.push(...found.words);
    }
    const held = [
      ...heldCode(reading.possible).map((text) => ["eval", text]),
      ...setVariables(reading.text, reading.possible, script === undefined).map((word) => [word]),
    ].map((words) => ({ words, anywhere: false }));
    for (const found of judgeCode(held, { fed: undefined, bases: [call.cwd] }, call)) note(finding, found);
    if (script !== undefined && finding.parts.length === 0)
      finding.blocked = reason("not-understood", { construct: "no-command" });
    for (const part of finding.parts) note(finding, againstLine(part));
    return { ...finding, ...guessed(words, finding, call), ...pick(finding) };
  } catch (error) {
    // A link that loops, a folder that may not be looked into: what rules have seen so far stays seen.
    const why = pathTrouble(error);
    return { mustAsk: why, blocked: why, ...finding };
  }
}

/** Parts of a command that rules cannot cover, and every word of it, since any may be a file. */
function* guess(reading: CommandReading, call: ShellCall): Generator<Found> {
  const { book } = call;
  const { unclear, trouble, commands, possible } = reading;
  const why = unclear ?? trouble ?? reason("not-understood", { construct: "unparsable" });
  const searched = searchedFolders(possible);
  yield { blocked: why };
  yield {
    parts: commands.map(({ text, possible: ways }) => ({
      text,
      behavior: "ask",
      reason: why,
      ...against(text, [...ways, ...otherWays(ways[0]?.words ?? [], { bases: [call.cwd], searched }, book)], book),
    })),
    words: possible.names,
  };
  const ways = commands.flatMap(({ possible: commandWays }) => commandWays);
  const written = ways.map(({ words }) => placeWritten(words)).find(Boolean);
  if (written) yield { mustAsk: reason("protected", { path: written.place, kind: written.kind }) };
  if (ways.some(({ words }) => appliesPatch(words))) yield { mustAsk: reason("write-unclear", {}) };
  const shown = ways
    .map(({ words }) => servesRuledFolder(words, { bases: [call.cwd], home: call.home }, call.reach))
    .find(Boolean);
  // Code from standard input is part of the text.
  const looks = ways.some(({ words: [name = ""] }) => isA("runner", baseName(name))) && listsFiles(call.command);
  const held = looks && call.reach.watchful ? ruleInside(["."], [call.cwd], call) : undefined;
  const mustAsk = shown ?? held;
  if (mustAsk) yield { mustAsk };
  // On a line that is not understood nobody knows what comes through a pipe, a here-string or a process that is written to.
  const fed = /\||<<|>\(|\bcoproc\b/.test(call.command) ? "unknown" : undefined;
  for (const { possible: commandWays } of commands) {
    yield* judgeCode(commandWays, { fed, bases: [call.cwd] }, call);
    for (const { words } of commandWays) {
      const seen = shownByGit({ words: words.map((word) => literalWord(word)) }, { bases: [call.cwd] }, call.reach);
      if (seen) yield { mustAsk: seen };
    }
  }
}

type Given = { fed: Fed; bases: readonly string[] };

/** Judges code that a command is given: rules against its parts are against the command, and names in it may be files. */
function* judgeCode(ways: readonly PossibleCommand[], { fed, bases }: Given, call: ShellCall): Generator<Found> {
  const { depth = 0, moved = false, book, reach, disk, home } = call;
  const isGuarded = reach.watchful || book.namedAgainst.length > 0;
  const alias = aliasIn(bases, home, moved);
  for (const code of new Map(
    ways.flatMap((way) => codeIn(way, fed, alias)).map((found) => [JSON.stringify(found), found]),
  ).values()) {
    switch (code.type) {
      case "shell":
        if (depth >= MAX_DEPTH) yield { mustAsk: reason("not-understood", { construct: "nested-too-deeply" }) };
        else
          for (const base of bases) {
            const nested = { ...call, command: code.text, cwd: base, reading: undefined, depth: depth + 1 };
            yield againstOuter(judgeShell(nested), isGuarded);
          }
        break;
      case "program": {
        const words = namesInCode(code.text);
        const mustAsk = protectedPath(words, bases, { disk, home, reach });
        if (mustAsk) yield { mustAsk };
        const copied = copiedProgram([{ words: ["cp", ...words], anywhere: false }], bases, book);
        if (copied) yield { mustAsk: copied };
        const built = builtPath(builtInCode(code.text), bases, { home, reach });
        if (built) yield { mustAsk: reason("code-builds", { program: code.program, path: built }) };
        const held = reach.watchful && listsFiles(code.text) ? ruleInside(["."], bases, { home, reach }) : undefined;
        if (held) yield { mustAsk: held };
        yield { words };
        break;
      }
      case "unknown":
        if (code.hidden || isGuarded)
          yield { mustAsk: reason(code.hidden ? "code-hidden" : "code-unknown", { program: code.program }) };
        break;
      default:
        code satisfies never;
    }
  }
}

const MAX_DEPTH = 4;

/** Findings in code count for the command that runs it, as far as they are against it. */
function againstOuter({ deny, ask, mustAsk, reading }: ShellFinding, isGuarded: boolean): Found {
  // That code cannot be read matters only where something in it could be forbidden.
  const counts = mustAsk && (isGuarded || mustAsk !== reading.trouble);
  return { ...(deny && { deny }), ...(ask && { ask }), ...(counts && { mustAsk }) };
}

/** Everything that the steps of a line have in common. */
type Scene = {
  call: ShellCall;
  flow: Flow;
  /** Rule that is this very line. */
  exact: Rule | undefined;
  /** The folder that rules are about. */
  session: string;
  changesNothing: boolean;
  common: Omit<Where, "bases">;
  /** Text of the line may be handed on to something that runs it. */
  carries: boolean;
  /** Folders that the line puts on the search path. */
  searched: readonly string[];
};

/** Judges every command by itself, with the words of those whose files are not known. A generator, so that findings before an error stay. */
function* prove(reading: CommandReading, script: Script, call: ShellCall): Generator<Found> {
  const scene = lineScene(reading, script, call);
  const { steps, loose, lists } = scene.flow;
  const { environment, reach } = call;
  const judged: { at: number; parts: JudgedPart[] }[] = [];
  const linking: Linking[] = [];
  const redirected: Linking[] = [];
  for (const { redirects, bases, isLost } of loose) {
    const targets = redirectTargets(redirects, { ...scene.common, bases });
    const hook = againstHook(targets, isLost);
    if (hook) yield hook;
    const parts = targets.flatMap((target) => judgeTarget(target, reach));
    judged.push({ at: redirects[0]!.target.start, parts });
    redirected.push({ words: [], opens: targets.length > 0, moves: false });
  }
  let isLost = false;
  for (const step of steps) {
    isLost ||= step.moves !== undefined && "why" in step.moves && !step.moves.led;
    const proved = yield* proveStep(step, isLost, scene);
    judged.push({ at: stepStart(step), parts: proved.parts });
    linking.push(proved.linking);
  }
  const set = lists.find(({ name }) => !isOwnVariable(name, environment) && !isHarmlessVariable(name));
  if (set) yield { blocked: reason("changes-names", { name: set.name }) };
  if (reach.watchful && steps.some(hasOpaqueVariable)) yield { words: assigned(steps, lists, scene.common) };
  const isBeside = steps.some((step) => step.repeats) || runsBeside.test(reading.text);
  if (followsOwnLink([...linking, ...redirected], isBeside)) yield { blocked: reason("own-link", {}) };
  const parts = judged.sort((a, b) => a.at - b.at).flatMap((found) => found.parts);
  yield { parts, keeps: losesNothing(parts, scene) };
}

/** Git alone besides commands that only look, and each command of it keeps what is there. */
function losesNothing(parts: readonly JudgedPart[], { flow: { steps, lists }, call, session, common }: Scene): boolean {
  const isGit = ({ command: { words } }: Step) => words[0]?.text === "git";
  const open = parts.filter(({ behavior, rule }) => behavior !== "allow" || rule !== undefined);
  if (open.length === 0 || lists.length > 0 || parts.some(({ writes = [] }) => writes.length > 0)) return false;
  // Other parts are files.
  const isCommand = ({ need, behavior }: JudgedPart) => (need ? need.kind === "command" : behavior === "allow");
  if (!open.every((part) => isCommand(part) && /^git\s/.test(part.text))) return false;
  let linked = false;
  return steps.every((step) => {
    if (!isGit(step)) return true;
    const { bases, command, repeats } = step;
    if (repeats || command.assignments.length > 0) return false;
    const { environment } = call;
    const keeping = keepingGit(command.words, { bases, ...common, session, environment, linked });
    linked ||= keeping === "links";
    return keeping !== undefined;
  });
}

function lineScene({ text, possible }: CommandReading, script: Script, call: ShellCall): Scene {
  const { book, disk, cwd, home } = call;
  const exact = book.spelling(call.command);
  const session = disk.follow(cwd);
  const flow = stepsOf(script, cwd, call);
  const { steps, loose } = flow;
  const source = (word: Word) => (word === currentFolder ? "." : text.slice(word.start, word.end));
  const carries = possible.readings[0].some(({ anywhere }) => anywhere) || hasScripts(steps);
  const busy = steps.length > 1 || steps.some((step) => step.repeats);
  const changesNothing = steps.every(isFree) && loose.every(({ redirects }) => redirects.every(onlyReads));
  const searched = searchedFolders(possible);
  return { call, flow, exact, session, changesNothing, carries, searched, common: { home, disk, source, busy } };
}

/** `isLost`: nobody knows any more in which folder the line works. */
function againstHook(targets: readonly Target[], isLost: boolean): Found | undefined {
  const hook = isLost ? targets.find(mayBeHook) : undefined;
  return hook && { mustAsk: reason("protected", { path: hook.shown, kind: "git" }) };
}

function* proveStep(
  step: Step,
  isLost: boolean,
  scene: Scene,
): Generator<Found, { parts: JudgedPart[]; linking: Linking }> {
  const { call, exact, common, carries, searched } = scene;
  const { book, reach, disk } = call;
  const view = viewIn(scene, step);
  const folders = view.words[0]?.text === "git" ? foldersOfGit(view.words, step.bases, disk) : step.bases;
  const where = { ...common, bases: folders ?? step.bases };
  const here = { ...common, bases: step.bases };
  const isAway = where.bases.some((folder) => !step.bases.includes(folder));
  if (view.blocks && !(exact && view.blocks.exactly)) yield { blocked: view.reason };
  const targets = targetsOf(step, view, where, reach.watchful);
  if (isAway && view.program.git)
    targets.push(...operandTargets({ readOnly: true, reads: [currentFolder], writes: [], deep: false }, where));
  const hook = againstHook(targets, isLost);
  if (hook) yield hook;
  const parts = [
    ...targets.flatMap((target) => judgeTarget(target, reach, view.meant)),
    ...unlistedParts(view, here, reach),
    ...patchedParts(view, step, here, reach),
  ];
  const command = commandPart(step, view, { book, exact, source: common.source, searched });
  if (reach.watchful) yield { words: doubtful(view, carries).flatMap((word) => namesIn(word, where)) };
  // Files that `xargs` is known to hand on were judged above.
  const isKnown = view.words[0]?.text === "xargs" && view.program.use?.readOnly === true;
  const ways = waysOf(step.command, { bases: step.bases, searched }, book);
  if (!isKnown) yield* judgeCode(ways, { fed: step.fed, bases: step.bases }, call);
  const copied = copiedProgram(ways, step.bases, book);
  if (copied) yield { mustAsk: copied };
  const shown =
    shownByGit(view, { ...where, bases: folders }, reach) ??
    packed(view, where, reach) ??
    servesRuledFolder(
      view.words.map((word) => word.text ?? common.source(word)),
      where,
      reach,
    );
  if (shown) yield { mustAsk: shown };
  const opens = isAway || (!view.program.git && targets.some(({ text }) => text !== "."));
  return { parts: [...command, ...parts], linking: { words: view.words, opens, moves: step.moves !== undefined } };
}

function viewIn({ call, exact, session, changesNothing, flow }: Scene, step: Step): CommandView {
  const { book, disk, environment } = call;
  const settled = changesNothing || (step === flow.steps[0] && !step.repeats);
  return viewOf(step, { book, exact, session, disk, changesNothing, settled, environment });
}

/** Names that variables of the line may hold: any of them may be a file. */
function assigned(steps: readonly Step[], lists: Flow["lists"], where: Omit<Where, "bases" | "busy">): string[] {
  return [
    ...steps.flatMap(({ command, bases }) =>
      command.assignments.flatMap(({ value }) => namesIn(value, { ...where, bases })),
    ),
    ...lists.flatMap(({ words, bases }) => words.flatMap((word) => namesIn(word, { ...where, bases }))),
  ];
}

/** A step that makes no file: whatever patterns stand for stays what it was. */
function isFree({ command: { words, redirects }, moves, listing }: Step): boolean {
  if (!redirects.every(onlyReads)) return false;
  return words.length === 0 || moves !== undefined || programOf(unwrapped(words), listing).use?.readOnly === true;
}

function onlyReads({ op }: Redirect): boolean {
  return op.startsWith("<") && op !== "<>";
}

/** A pipe, or a command in the background; quoted ones count as well. */
const runsBeside = /(^|[^&>|])[&|]([^&>|]|$)|\|&/;

/** Words that may name a file although nothing is known to open them. */
function doubtful({ program: { use, git }, words }: CommandView, carries: boolean): readonly Word[] {
  // The part after the colon in `HEAD:file` is a file too; and printed text may be handed on.
  const prints = carries && /^(echo|printf)$/.test(words[0]?.text ?? "");
  return use === undefined || git || prints ? words : words.filter(({ text }) => text === undefined);
}

function hasScripts(steps: readonly Step[]): boolean {
  return steps.some(({ command: { words } }) => words.some(({ scripts }) => scripts.length > 0));
}

/** Rules, protected paths and roots that the command may touch by a generous reading of its words. */
function guessed(
  words: readonly string[],
  { reading: { possible, script, text, commands } }: ShellFinding,
  call: ShellCall,
): Pick<ShellFinding, "deny" | "ask" | "mustAsk"> {
  const scene = { ...call, possible };
  const carried = script === undefined || possible.readings[0].some(({ anywhere }) => anywhere);
  const programs = script === undefined ? commands.map(({ possible: [way] }) => baseName(way?.words[0] ?? "")) : [];
  const runsOther = programs.some((name) => !isReader(name) && !keywords.has(name));
  const mustAsk =
    rootRemoval(scene) ??
    copiedProgram(possible.readings.flat(), [call.cwd], call.book) ??
    foundWrite(possible, [call.cwd], call) ??
    (carried ? protectedWrite(text, scene, runsOther) : undefined);
  return { ...rulesAgainst(words, scene), ...(mustAsk && { mustAsk }) };
}
