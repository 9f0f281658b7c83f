import { isAbsolute, relative } from "node:path";
import type { PermissionResult, PermissionSuggestion, Rule } from "../../protocol/facts/permission.ts";
import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import { canonicalPath, isFolder, isInside, type CanonicalPath } from "../paths/canonical.ts";
import { judge, type DecisionInput, type Judgement } from "../decide.ts";
import { commandRule } from "./offer.ts";
import { meaningOf } from "../rules/meaning.ts";
import { mcpParts, pathTools, readRule } from "../rules/rules.ts";
import { looksSecret } from "../text/secret.ts";
import type { Need, ShellFinding } from "../shell/judge/shell-finding.ts";
import { escapeSpecifier } from "../text/wild.ts";

/** `note` says what else a rule would allow, where it allows more than this call. */
type Offer = { rule: string; note?: Reason; wider?: Omit<Offer, "wider"> };

const most = 5;

/** Rules that would have allowed this call, and a wider one beside a single one. Nothing with a secret. `judgement`: the call's own. */
export function suggest(call: DecisionInput, judgement: Judgement = judge(call)): PermissionSuggestion[] {
  const { result, finding } = judgement;
  if (result.behavior !== "ask" || result.hard === true) return [];
  const missed = confinedOffers(result);
  const missedAreEnough = missed.length > 0 && isEnough(call, missed, finding?.shell);
  const own = missedAreEnough ? undefined : offersFor(call, finding?.shell);
  if (own === undefined && missed.length === 0) return [];
  const offers = unique([...(own ?? []), ...missed]);
  const wouldAllow = (given: readonly Offer[]) => isEnough(call, given, finding?.shell);
  if (offers.length === 0 || offers.length > most || !wouldAllow(offers)) return [];
  // Beside rules that are needed together, an alternative to one of them would only confuse.
  const wider = offers.length === 1 ? offers[0]?.wider : undefined;
  const all = wider && wouldAllow([wider]) ? [...offers, wider] : offers;
  return all.map(({ rule, note: own }) => ({
    type: "addRule",
    rule,
    behavior: "allow",
    destination: "session",
    ...noted(rule, own),
    ...(offers.length > 1 && { together: true as const }),
  }));
}

/** A rule that still asks about this call, and about less than `asks`. Undefined: several would do, or nothing is narrower. */
export function narrower(call: DecisionInput, asks: string): string | undefined {
  const nameOf = (text: string) => text.split("(")[0]!;
  const family = nameOf(asks).replace(/(__)?\*$/, "");
  if (asks.includes("(") && !asks.includes("*")) return undefined;
  const bare = { ...call, mode: "default" as const, rules: [], view: undefined };
  const isAsked = (text: string, input: unknown = call.input) =>
    judge({ ...bare, input, rules: [{ behavior: "ask", text, source: "session" }] }).result.rule === text;
  const covered = ({ rule }: Offer) => {
    const command = /^Bash\((.*):\*\)$/.exec(rule)?.[1];
    return command === undefined ? !rule.includes("*") : isAsked(asks, { command });
  };
  const fits = ({ rule }: Offer) =>
    rule !== asks &&
    [nameOf(rule), `mcp__${mcpParts(rule)?.server}`].includes(family) &&
    isAsked(rule) &&
    !looksSecret(rule);
  const own = offersFor(bare, judge(bare).finding?.shell) ?? [];
  const [only, another] = unique(own).filter((offer) => fits(offer) && covered(offer));
  return another ? undefined : only?.rule;
}

/** Rules for the hosts and paths that the sandbox kept a command from. */
function confinedOffers({ reason: why, confined }: PermissionResult): Offer[] {
  if (why.code !== "confined-blocked" || confined === undefined || confined === "outside") return [];
  return [
    ...confined.hosts.map((host) => ({
      rule: `Network(domain:${host.includes(":") ? `[${host}]` : host})`,
      note: reason("offer-network", { host }),
    })),
    ...confined.writable.map((path) => ({
      rule: isFolder(path) ? `Edit(${spell(path)}/**)` : `Edit(${spell(path)})`,
    })),
  ];
}

/** Notes on a rule for the person: calls that it allows besides this one, and effects beyond its words. */
function noted(rule: string, first: Reason | undefined): { note?: Reason } {
  const second = meaningOf(rule);
  if (first && second) return { note: reason("offer-both", { first, second }) };
  return first || second ? { note: (first ?? second)! } : {};
}

function unique(offers: readonly Offer[]): Offer[] {
  return [...new Map(offers.map((offer) => [offer.rule, offer])).values()];
}

/** With these rules the call would be allowed. */
function isEnough(call: DecisionInput, offers: readonly Offer[], shell: ShellFinding | undefined): boolean {
  if (offers.some(({ rule }) => looksSecret(rule) || !readRule(rule, "allow").ok)) return false;
  const more = offers.map(({ rule }): Rule => ({ behavior: "allow", text: rule, source: "session" }));
  const again = { ...call, mode: "default" as const, rules: [...call.rules, ...more] };
  return judge(again, shell?.reading).result.behavior === "allow";
}

function offersFor(call: DecisionInput, shell: ShellFinding | undefined): Offer[] | undefined {
  const { tool, specifier } = call;
  const input = (call.input ?? {}) as Record<string, string | undefined>; // a search needs none; others would be a hard ask
  if (tool === "Bash") return shell && shellOffers(shell, call);
  if (pathTools.has(tool)) {
    const path = canonicalPath(input["file_path"] ?? input["path"] ?? ".", call);
    const offer = tool === "Write" || tool === "Edit" ? writeOffer([path], false, call) : readOffer([path], call);
    return offer && [offer];
  }
  if (tool === "WebFetch") {
    const host = URL.parse(input["url"] ?? "")?.hostname.replace(/\.$/, "");
    return host === undefined
      ? undefined
      : [{ rule: `WebFetch(domain:${host})`, note: reason("offer-host", { host }) }];
  }
  if (tool === "WebSearch" || mcpParts(tool)?.tool !== undefined)
    return [{ rule: tool, note: reason("offer-tool", { tool }) }];
  return specifier === undefined ? undefined : [{ rule: `${tool}(${escapeSpecifier(specifier.trim())})` }];
}

function shellOffers({ parts, blocked }: ShellFinding, call: DecisionInput): Offer[] | undefined {
  if (blocked !== undefined) return undefined;
  const offers = parts.filter(({ behavior }) => behavior !== "allow").map(({ need }) => need && offerFor(need, call));
  return offers.every((offer) => offer !== undefined) ? offers : undefined;
}

function offerFor(need: Need, call: DecisionInput): Offer | undefined {
  switch (need.kind) {
    case "command":
      return need.heredoc ? undefined : commandRule(need.view);
    case "write":
      return writeOffer(need.paths, need.deep, call);
    case "read":
      return readOffer(need.paths, call);
    case "nothing":
      return undefined;
    default:
      return need satisfies never;
  }
}

function writeOffer(
  paths: readonly CanonicalPath[],
  deep: boolean,
  { cwd, anchor = cwd }: DecisionInput,
): Offer | undefined {
  const [path] = paths;
  // The path has to lead to what it says, and inside: a rule for anything else deserves to be written by hand.
  if (path === undefined || paths.length > 1 || !isInside(anchor, path.lexical)) return undefined;
  const name = relative(anchor, path.lexical);
  if (name === "") return undefined;
  const folder = name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : "";
  const below = (where: string): Offer => ({
    rule: `Edit(./${spell(where)}/**)`,
    note: reason("offer-write-below", { folder: `./${where}` }),
  });
  const everything = { rule: "Edit(./**)", note: reason("offer-write-folder", {}) };
  if (deep) return below(name);
  return { rule: `Edit(./${spell(name)})`, wider: folder === "" ? everything : below(folder) };
}

function readOffer(paths: readonly CanonicalPath[], { home }: DecisionInput): Offer | undefined {
  const [path] = paths;
  if (path === undefined || paths.length > 1) return undefined;
  const { real } = path;
  const below = isInside(home, real) ? `~/${relative(home, real)}` : real;
  if (!isAbsolute(real) || below === "~/" || below === "/") return undefined;
  if (isFolder(real)) return { rule: `Read(${spell(below)}/**)`, note: reason("offer-read-below", { folder: below }) };
  return { rule: `Read(${spell(below)})` };
}

function spell(path: string): string {
  return escapeSpecifier(path, "()*\\?[");
}
