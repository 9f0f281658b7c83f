import { dirname } from "node:path";
import type { Blocked, Confined } from "../protocol/confine.ts";
import { reason, type Reason } from "../protocol/reasons/reason.ts";
import type { Decision, DecisionInput, Judgement } from "./decide.ts";
import type { Finding } from "./finding.ts";
import { judgeHost } from "./web.ts";
import { isFolder, isInside, statOf } from "./paths/canonical.ts";
import { anchorsOf, isCovered, namesOf } from "./paths/pattern.ts";
import { holdsProtected, protectedKind } from "./paths/protected.ts";
import type { RuleBook } from "./rules/book.ts";
import { outsidePrograms, repositoryUse } from "./shell/judge/confinable.ts";

/** How commands are confined in this run. */
export type ConfinePolicy = {
  mode: "contain" | "autoAllow";
  /** Further programs that can only work outside. */
  outside: readonly string[];
  /** With `write` commands of git that change the repository run without asking, too. */
  git: "read" | "write";
  /** Why nothing can be confined here: then no command runs. */
  problem?: Reason | undefined;
  /** Things that the last run of this very command was kept from. */
  blocked: readonly Blocked[];
  /** Nobody will be asked: then nothing is given beyond the sandbox, whatever answers in a person's place. */
  unattended?: boolean;
};

type Answer = Pick<Decision, "step" | "result">;

/** A decision about a command where commands are confined. Deny, ask rules and everything that needs a person stand above it. */
export function confine(
  { step, result }: Answer,
  { finding, book, call }: { finding: Finding; book: RuleBook; call: DecisionInput },
): Answer {
  const { confine: policy } = call;
  if (policy === undefined || call.tool !== "Bash" || result.behavior === "deny") return { step, result };
  if (policy.problem) return { step: "refused", result: { behavior: "deny", reason: policy.problem } };
  const unattended = call.mode === "bypass" || policy.unattended === true;
  const away = unattended ? [] : worksOutside(finding, call, policy);
  if (away.length > 0) {
    const program = result.behavior === "allow" ? away.find((host) => !isNamed(host, finding)) : undefined;
    if (program === undefined) return { step, result: { ...result, confined: "outside" } };
    const why = reason("outside-unnamed", { program });
    return { step: "confined", result: { behavior: "ask", reason: why, confined: "outside" } };
  }
  const { confined, missed } = confinesWith(finding, book, call, unattended ? [] : policy.blocked);
  const isOpen = step === "nothing" && result.behavior === "ask" && result.reason.code !== "tool-changed";
  const changes = confined.repository === "write" && policy.git !== "write";
  const fits = policy.mode === "autoAllow" && (!changes || keepsRepository(finding));
  const answer: Answer =
    isOpen && fits
      ? { step: "confined", result: { behavior: "allow", reason: reason("runs-confined", {}) } }
      : { step, result };
  if (missed.length === 0 || answer.result.behavior !== "allow")
    return { step: answer.step, result: { ...answer.result, confined } };
  const why = reason("confined-blocked", { blocked: missed });
  return { step: "confined", result: { behavior: "ask", reason: why, confined } };
}

/** The command could run confined without asking, were that switched on. */
export function couldRunConfined(
  { finding, result, step }: Judgement,
  tool: string,
  roots: readonly string[],
): boolean {
  if (tool !== "Bash" || step !== "nothing" || result.behavior !== "ask" || finding === undefined) return false;
  const changes = repositoryUse(finding.shell?.reading) === "write";
  return worksOutside(finding, { roots }, { outside: [] }).length === 0 && (!changes || keepsRepository(finding));
}

function keepsRepository({ shell }: Finding): boolean {
  return shell?.keeps === true && shell.blocked === undefined;
}

function confinesWith(
  { shell }: Finding,
  book: RuleBook,
  call: DecisionInput,
  blocked: readonly Blocked[],
): { confined: Confined; missed: Blocked[] } {
  const hosts: string[] = [];
  const writable: string[] = [];
  const missed: Blocked[] = [];
  let repository = repositoryUse(shell?.reading);
  for (const access of blocked) {
    if (access.kind === "aside") continue;
    if (access.kind === "host") {
      const { behavior } = judgeHost(access.host, book);
      if (behavior === "allow" || behavior === "deny") continue;
      missed.push(access);
      if (access.final !== true && !hosts.includes(access.host)) hosts.push(access.host);
      continue;
    }
    const git = call.roots.some((root) => isInside(`${root}/.git`, access.path));
    if (git && repository === "write") continue;
    const path = git ? undefined : grantable(access.path, call);
    if (path !== undefined && isRuled(path, book, call)) {
      writable.push(path);
      continue;
    }
    missed.push(access);
    if (git) repository = "write";
    else if (path !== undefined && !writable.includes(path)) writable.push(path);
  }
  return { confined: { repository, hosts, writable }, missed };
}

/** The path itself, or the nearest folder above it that is there. Nothing that holds a workspace, a home or what others obey. */
function grantable(path: string, { home, roots, sageHome = `${home}/.sage` }: DecisionInput): string | undefined {
  let found = path;
  while (found !== "/" && statOf(found) === undefined) found = dirname(found);
  const isWide = [home, sageHome, ...roots].some((folder) => isInside(found, folder));
  const isOwn = [sageHome, ...roots].some((folder) => isInside(folder, found));
  const isGuarded = protectedKind(path, sageHome) !== undefined || holdsProtected(found, home);
  return isWide || isOwn || isGuarded || found === "/" ? undefined : found;
}

/** A rule that lets a file be edited lets a confined command write it. */
function isRuled(path: string, book: RuleBook, { cwd, anchor = cwd, home }: DecisionInput): boolean {
  const anchors = anchorsOf({ cwd: anchor, home }, undefined);
  // A rule for everything below a folder covers whatever is in it.
  const named = namesOf(isFolder(path) ? `${path}/file` : path);
  return book.about("Edit").allow.some((rule) => rule.path !== undefined && isCovered(rule.path, named, anchors));
}

/** Programs of the line that can only work outside, and paths elsewhere that it is told to read or write. */
function worksOutside(
  { shell, parts = [] }: Finding,
  { roots }: Pick<DecisionInput, "roots">,
  { outside }: Pick<ConfinePolicy, "outside">,
): string[] {
  // In there its home and /tmp are others: what it is told to read or write elsewhere it would not find.
  const paths = parts.flatMap(({ writes = [], reason: why }) => {
    const read = why.code === "reads-outside" || why.code === "reads-by-rule" ? [why.args.path] : [];
    return [...writes.filter((target) => target.outside).map(({ path }) => path), ...read];
  });
  const isThere = (path: string) => isShown.test(path) || roots.some((root) => isInside(root, path));
  return [
    ...(shell ? outsidePrograms(shell.reading, outside) : []),
    ...new Set(paths.filter((path) => !isThere(path))),
  ];
}

/** A rule names the program that it lets out of the sandbox; a path has a rule of its own, or it would be asked about. */
function isNamed(program: string, { allow = [] }: Finding): boolean {
  if (program.startsWith("/")) return true;
  return allow.some(({ text }) => text.startsWith(`Bash(${program}`));
}

/** Parts of the system that are the same in there, and its own /tmp. */
const isShown = /^\/(dev|proc|sys|usr|etc|tmp|bin|lib|opt)(\/|$)/;
