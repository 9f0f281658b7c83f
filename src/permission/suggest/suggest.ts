import { isAbsolute, relative } from "node:path";
import { said } from "../../protocol/index.ts";
import type { PermissionSuggestion, Rule } from "../../protocol/index.ts";
import { createReach } from "../rules/access.ts";
import { bookOf } from "../rules/book.ts";
import { canonicalPath, isFolder, isInside, openDisk } from "../paths/canonical.ts";
import type { CanonicalPath } from "../paths/canonical.ts";
import { decide } from "../decide.ts";
import type { DecisionInput } from "../decide.ts";
import { commandRule } from "./offer.ts";
import { mcpParts, pathTools, readRule } from "../rules/rules.ts";
import { looksSecret } from "../text/secret.ts";
import { judgeShell } from "../shell/judge/shell.ts";
import type { Need } from "../shell/judge/shell.ts";

import { escapeSpecifier } from "../text/wild.ts";

/** `note` says what else a rule would allow, where it allows more than this call. */
type Offer = { rule: string; note?: string; wider?: Omit<Offer, "wider"> };

const most = 5;

/**
 * The rules that together would have allowed this call, each fit to be kept; of a single one also a wider one that a
 * person may prefer. Nothing for what no rule allows, and nothing that holds a secret.
 */
export function suggest(call: DecisionInput): PermissionSuggestion[] {
  const { behavior, hard } = decide(call);
  if (behavior !== "ask" || hard === true) return [];
  const offers = unique(offersFor(call) ?? []);
  if (offers.length === 0 || offers.length > most || !wouldAllow(call, offers)) return [];
  // Beside rules that are needed together, an alternative to one of them would only confuse.
  const wider = offers.length === 1 ? offers[0]?.wider : undefined;
  const all = wider && wouldAllow(call, [wider]) ? [...offers, wider] : offers;
  return all.map(({ rule, note }) => ({
    type: "addRule",
    rule,
    behavior: "allow",
    destination: "session",
    ...(note !== undefined && { note: said(note) }),
    ...(offers.length > 1 && { together: true as const }),
  }));
}

function unique(offers: readonly Offer[]): Offer[] {
  return [...new Map(offers.map((offer) => [offer.rule, offer])).values()];
}

function wouldAllow(call: DecisionInput, offers: readonly Offer[]): boolean {
  if (offers.some(({ rule }) => looksSecret(rule) || !readRule(rule, "allow").ok)) return false;
  const more = offers.map(({ rule }): Rule => ({ behavior: "allow", text: rule, source: "session" }));
  return decide({ ...call, mode: "default", rules: [...call.rules, ...more] }).behavior === "allow";
}

function offersFor(call: DecisionInput): Offer[] | undefined {
  const { tool, specifier } = call;
  const input = call.input as Record<string, string | undefined>; // or it would have been a hard ask
  if (tool === "Bash") return shellOffers(input["command"]!, call);
  if (pathTools.has(tool)) {
    const path = canonicalPath(input["file_path"] ?? input["path"] ?? ".", call);
    const offer = tool === "Write" || tool === "Edit" ? writeOffer([path], false, call) : readOffer([path], call);
    return offer && [offer];
  }
  if (tool === "WebFetch") {
    const host = URL.parse(input["url"] ?? "")?.hostname.replace(/\.$/, "");
    return host === undefined ? undefined : [{ rule: `WebFetch(domain:${host})`, note: `reads anything on ${host}` }];
  }
  if (mcpParts(tool)?.tool !== undefined) return [{ rule: tool, note: `any call of ${tool}` }];
  return specifier === undefined ? undefined : [{ rule: `${tool}(${escapeSpecifier(specifier.trim())})` }];
}

function shellOffers(command: string, call: DecisionInput): Offer[] | undefined {
  const { cwd, home, roots, grammar, anchor = cwd, sageHome = process.env["SAGE_HOME"] } = call;
  const disk = openDisk();
  const book = bookOf(call.rules, home);
  const reach = createReach(book, { cwd: anchor, home, roots, disk, sageHome });
  const { parts, blocked } = judgeShell({ command, book, reach, disk, cwd, home, grammar });
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
  // Where it leads has to be what it says, and inside: a rule for anything else deserves to be written by hand.
  if (path === undefined || paths.length > 1 || !isInside(anchor, path.lexical)) return undefined;
  const name = relative(anchor, path.lexical);
  if (name === "") return undefined;
  const folder = name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : "";
  const below = (where: string): Offer => ({
    rule: `Edit(./${spell(where)}/**)`,
    note: `writes any file below ./${where}`,
  });
  const everything = { rule: "Edit(./**)", note: "writes any file of this folder" };
  if (deep) return below(name);
  return { rule: `Edit(./${spell(name)})`, wider: folder === "" ? everything : below(folder) };
}

function readOffer(paths: readonly CanonicalPath[], { home }: DecisionInput): Offer | undefined {
  const [path] = paths;
  if (path === undefined || paths.length > 1) return undefined;
  const { real } = path;
  const below = isInside(home, real) ? `~/${relative(home, real)}` : real;
  if (!isAbsolute(real) || below === "~/" || below === "/") return undefined;
  if (isFolder(real)) return { rule: `Read(${spell(below)}/**)`, note: `reads any file below ${below}` };
  return { rule: `Read(${spell(below)})` };
}

function spell(path: string): string {
  return escapeSpecifier(path, "()*\\?[");
}
