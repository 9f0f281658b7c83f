// Guards of a second line: where the first one holds, nobody notices that they are gone.
import type { Mutant } from "./mutants.ts";

const m = (name: string, file: string, from: string, to: string, ...tests: string[]): Mutant[] =>
  tests.map((test) => ({ name: `${name} [${test}]`, changes: [{ file, from, to }], killedBy: { file: `test/${test}.test.ts`, test: " " } }));
const plan = "src/confine/plan.ts";
const planned = ["confine/plan", "confine/escapes"];
const checks = "src/journal/postgres/checks.ts";
const respond = "src/input/respond.ts";
const answered = ["input/answers", "input/deadlines", "host/repeated", "agent/consent", "stories/damaged"];
const session = "src/journal/session.ts";
const sessions = ["journal/session", "journal/session-ends", "agent/lifecycle"];

export const guardMutants: Mutant[] = [
  ...m("guest isUsed", "src/agent/guest/carry.ts", "|| isUsed(log.loaded, request.id)) continue;", ") continue;", "agent/guest-again"),
  ...m("guest goesOn", "src/agent/guest/carry.ts", "|| (goesOn && end === \"open\")) continue;", ") continue;", "agent/guest-again"),
  ...m("guest signed", "src/agent/guest/carry.ts", "if (isSigned(request, resolution) && isWhole(request, resolution, verdict)) context", "context", "agent/guest-again", "faults/guests"),
  ...m("carry isUsed", "src/agent/turn/carry.ts", "if (isGrant(end) && !isUsed(log.loaded, request.id)) {", "if (isGrant(end)) {", "agent/upgrade"),
  ...m("consent thrown", "src/permission/decide.ts", "reason: why, ...(consent && { consent }) } };", "reason: why } };", "agent/consent"),
  ...m("drift isStricter", "src/agent/call/drift.ts", " || isStricter(judged.consent, shown.consent));", ");", "agent/upgrade"),
  ...m("isAsShown isStricter", "src/agent/call/judge.ts", " || isStricter(now.consent, shown.consent)) return false;", ") return false;", "agent/upgrade"),
  ...m("isAbout isStricter", "src/agent/call/request.ts", "return !isStricter(consent, { approvals, ...(except && { notAsker: true }) });", "return true;", "agent/upgrade"),
  ...m("plan isReal", plan, "return realpathSync.native(path) === path;", "return true;", ...planned),
  ...m("plan readable", plan, "place.readable.filter(isReal)", "place.readable", ...planned),
  ...m("plan writable", plan, "place.writable.filter(isReal)", "place.writable", ...planned),
  ...m("plan guarded", plan, "place.guarded.filter(isReal)", "place.guarded", ...planned),
  ...m("plan kept", plan, "isFolder(path) && isReal(path))", "isFolder(path))", ...planned),
  ...m("plan hide", plan, "  if (!isReal(path)) return [];\n", "", ...planned),
  ...m("plan tools", plan, "join(home, name)).filter(isReal)", "join(home, name)).filter(exists)", ...planned),
  ...m("plan path", plan, "isFolder(folder) && isReal(folder) &&", "isFolder(folder) &&", ...planned),
  ...m("plan git", plan, "  if (!isReal(own)) return undefined;\n", "", ...planned),
  ...m("plan git2", plan, "return isReal(join(root, \".git\"))", "return exists(join(root, \".git\"))", ...planned),
  ...m("plan fixed", plan, "fixed.filter(isReal)", "fixed.filter(exists)", ...planned),
  ...m("plan back", plan, "back === own && dirname", "dirname", ...planned),
  ...m("plan commondir", plan, " && dirname(dirname(admin)) === common ?", " ?", ...planned),
  ...m("choose", "src/host/person/guarded.ts", "      case \"choose\":\n        checkModel(command.model);", "      case \"choose\":", "host/guarded"),
  ...m("open model", "src/host/person/guarded.ts", "      case \"open\":\n        checkModel(command.model);", "      case \"open\":", "host/guarded"),
  ...m("device", "src/host/person/guarded.ts", "return { ...rest, ...sender };", "return { ...command, ...sender };", "host/guarded"),
  ...m("pg plan", checks, "r.said -> 'why' ->> 'code' = 'plan-waits' AND ", "", "journal/roles"),
  ...m("pg mode", checks, " AND coalesce(f.said -> 'response' ->> 'mode', 'ask') = j ->> 'mode')", ")", "journal/roles"),
  ...m("pg mode by", checks, "AND r.said -> 'why' ->> 'code' = 'plan-waits' AND f.said ->> 'by' = j ->> 'by' AND", "AND r.said -> 'why' ->> 'code' = 'plan-waits' AND", "journal/roles"),
  ...m("pg mode outcome", checks, "AND f.said ->> 'by' = j ->> 'by' AND f.said ->> 'outcome' = 'answered'\n      AND f.said -> 'response' ->> 'type' = 'granted' AND coal", "AND f.said ->> 'by' = j ->> 'by' AND coal", "journal/roles"),
  ...m("pg mode call", checks, "WHERE starts_with(f.key, c.call) AND substr(f.key, length(c.call) + 1) ~ '${permitResolvedPattern}'\n", "WHERE true\n", "journal/roles"),
  ...m("pg mode end", checks, "SELECT right(k, ${callModeEnd.length}) = '${callModeEnd}' AND EXISTS", "SELECT EXISTS", "journal/roles"),
  ...m("pg clone name", checks, "        AND starts_with(right(j ->> 'cwd', length(session_id) + 8), '/' || session_id || '-') AND j", "        AND j", "journal/roles"),
  ...m("pg clone hex", checks, " AND j ->> 'cwd' ~ '-[0-9a-f]{6}$'", "", "journal/roles"),
  ...m("pg clone abs", checks, " AND starts_with(j ->> 'cwd', '/')\n", "\n", "journal/roles"),
  ...m("pg clone git", checks, " AND starts_with(j ->> 'from', 'git+'))", ")", "journal/roles"),
  ...m("pg clone from", checks, "f.said ->> 'cwd' = j ->> 'from' AND starts", "starts", "journal/roles"),
  ...m("pg clone only", checks, "sage.has_only(j, ARRAY['cwd','from','commit']) AND ", "", "journal/roles"),
  ...m("pg clone key", checks, "good := k = '${workspaceKey}' AND ", "good := ", "journal/roles"),
  ...m("except", "src/protocol/consent.ts", "!except.has(one)", "true", "agent/consent", "faults/consent", "view/transcript"),
  ...m("unnamed", "src/protocol/consent.ts", "  if ((consent.unnamed ?? []).length > 0) return false;\n", "", "agent/consent", "faults/consent"),
  ...m("digest", "src/protocol/consent.ts", ".filter((one) => one.digest === digest)", "", "agent/consent", "faults/consent"),
  ...m("approve except", "src/input/approve.ts", "personName(one) === by))", "personName(one) === '' && by))", "agent/consent"),
  ...m("approve unnamed", "src/input/approve.ts", "if (unnamed !== undefined)", "if (unnamed === '')", "agent/consent"),
  ...m("withdraw", "src/journal/line.ts", "if (id.startsWith(below))", "if (below)", "agent/subagents", "journal/session-requests", "agent/interrupt", "agent/batch-failures"),
  ...m("goesOn", respond, "  checkGoesOn(store, found.request);\n", "", ...answered),
  ...m("overdue", respond, "if (isOverdue(store, found.request))", "if (isOverdue(store, found.request) && false)", ...answered),
  ...m("overdue owned", respond, "!duesOf(store).has(id) && store.session(session)?.owned === false", "!duesOf(store).has(id)", ...answered),
  ...m("overdue dues", respond, "!duesOf(store).has(id) && store", "store", ...answered),
  ...m("repeated surface", respond, " && completing.surface === from.surface", "", ...answered),
  ...m("repeated by", respond, "completing?.by === personName(from.name) && ", "completing !== undefined && ", ...answered),
  ...m("repeated granted", respond, "response.type === \"granted\" && completing", "completing", ...answered),
  ...m("held order", session, "this.#held.push(delta);", "this.#held.unshift(delta);", ...sessions),
  ...m("held none", session, "else if (!written) this.store", "else if (written || !written) this.store", ...sessions),
  ...m("state later", session, "if (delta.kind === \"state\" && this.#buffer.length > 0)", "if (false as boolean)", ...sessions),
  ...m("state later order", session, "(this.#shownLater ??= []).push(delta)", "(this.#shownLater ??= []).unshift(delta)", ...sessions),
  ...m("state shown", session, "for (const delta of this.#shownLater?.splice(0) ?? []) this.show(delta);", "for (const delta of this.#shownLater?.splice(0) ?? []) this.store.hub.delta(delta);", ...sessions),
  ...m("receipt givenBy", "src/archive/receipts.ts", "fact.type === \"rule.added\" && fact.data.rule === rule)", "fact.type === \"rule.added\")", "archive/receipts"),
  ...m("receipt lastGiven", "src/permission/decide.ts", "...by(lastGiven(allow))", "...by(allow[0])", "permission/decide", "archive/receipts"),
  ...m("receipt first", "src/permission/decide.ts", "asking.find((rule) => rule.consent && !isStricter(consent, rule.consent)) ?? asking[0]!", "asking[0]!", "agent/consent", "permission/decide"),
];
