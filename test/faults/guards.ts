// Guards of a second line. Where the first line holds, nobody notices that one of them is gone.
import type { KilledBy, Mutant } from "./mutants.ts";

const guestCarry = "src/agent/guest/carry.ts";
const decide = "src/permission/decide.ts";
const plan = "src/confine/plan.ts";
const guarded = "src/host/person/guarded.ts";
const checks = "src/journal/postgres/schema/checks.ts";
const consent = "src/protocol/facts/consent.ts";
const respond = "src/input/respond.ts";
const commits = "src/journal/session/commit-queue.ts";

const guest = (test: string): KilledBy => ({ file: "test/agent/guest-again.test.ts", test });
const stricter = (test: string): KilledBy => ({ file: "test/agent/upgrade.test.ts", test });
const people = (test: string): KilledBy => ({ file: "test/agent/consent.test.ts", test });
const mounts = (test: string): KilledBy => ({ file: "test/confine/plan.test.ts", test });
const rights = (test: string): KilledBy => ({ file: "test/host/guarded.test.ts", test });
const planMode: KilledBy = { file: "test/journal/roles.test.ts", test: "a mode comes with a yes to a plan alone" };
const clone: KilledBy = { file: "test/journal/roles.test.ts", test: "the folder of a session is its clone" };
const deadline = (test: string): KilledBy => ({ file: "test/input/deadlines.test.ts", test });
const repeated: KilledBy = { file: "test/host/repeated.test.ts", test: "the yes that completed two people's" };
const shown: KilledBy = {
  file: "test/journal/session-ends.test.ts",
  test: "a state is shown with the facts before it",
};
const receipt: KilledBy = { file: "test/archive/receipts.test.ts", test: "of several rules a receipt names" };

/** One change of one guard. */
function without(name: string, file: string, [from, to]: [from: string, to: string], killedBy: KilledBy): Mutant {
  return { name, changes: [{ file, from, to }], killedBy };
}

export const guardMutants: Mutant[] = [
  without(
    "grants a guest's call again whose yes was used",
    guestCarry,
    ["|| isUsed(log.loaded, request.id)) continue;", ") continue;"],
    guest("a yes that carried a guest over one death"),
  ),
  without(
    "grants a call once more that a guest meets again by itself",
    guestCarry,
    ['|| (goesOn && end === "open")) continue;', ") continue;"],
    guest("left while it is about to keep a call"),
  ),
  without(
    "grants a guest's call with fewer people than it takes",
    guestCarry,
    ["if (isProven(request, resolution) && isWhole(request, resolution, verdict)) context", "context"],
    guest("a yes of one person, where two have to give it"),
  ),
  without(
    "grants a call again after an update whose yes was used",
    "src/agent/turn/carry.ts",
    ["if (isGrant(end) && !isUsed(log.loaded, request.id)) {", "if (isGrant(end)) {"],
    stricter("a yes that was used is used up"),
  ),
  without(
    "runs what one person allowed, where two have to by now",
    "src/agent/call/judge/drift.ts",
    ["||\n      isStricter(judged.consent, shown.consent));", ");"],
    stricter("runs nothing: the rules ask for two people by now"),
  ),
  without(
    "takes a yes that was carried over an update, where two have to give it by now",
    "src/agent/call/judge/drift.ts",
    [" || isStricter(now.consent, shown.consent)) return false;", ") return false;"],
    stricter("runs nothing: the rules ask for two people by now, after an update"),
  ),
  without(
    "takes a yes to a request that asked fewer people than the verdict",
    "src/agent/call/judge/request.ts",
    ["return !isStricter(consent, { approvals, ...(except && { notAsker: true }) });", "return true;"],
    stricter("runs nothing: the rules asked for two people, and the request did not show it"),
  ),
  without(
    "asks one person about a call that it could not judge",
    decide,
    ["reason: why, ...(consent && { consent }) };", "reason: why };"],
    people("a call that cannot be judged"),
  ),
  without(
    "counts the signature of whoever asked",
    consent,
    ["!except.has(person)", "true"],
    people("an answer in the journal signed by whoever asked"),
  ),
  without(
    "counts signatures where nobody can tell who asked",
    consent,
    ["  if ((consent.unnamed ?? []).length > 0) return false;\n", ""],
    people("somebody whom the settings do not name asks"),
  ),
  without(
    "counts signatures for another input",
    consent,
    ["approval.digest === digest && (", "("],
    people("an answer in the journal signed for another input"),
  ),
  without(
    "shows a confined command what a link names",
    plan,
    ["return realpathSync.native(path) === path;", "return true;"],
    mounts("a link is never bound"),
  ),
  without(
    "mounts a link among the folders to read",
    plan,
    ["place.readable.filter(isReal)", "place.readable"],
    mounts("folders to read: "),
  ),
  without(
    "mounts a link among the folders to write",
    plan,
    ["place.writable.filter(isReal)", "place.writable"],
    mounts("folders to write: "),
  ),
  without(
    "mounts a link among the guarded paths",
    plan,
    ["place.guarded.filter(isReal)", "place.guarded"],
    mounts("guarded paths: "),
  ),
  without("mounts a link to hide it", plan, ["  if (!isReal(path)) return [];\n", ""], mounts("hidden paths: ")),
  without(
    "mounts what a link in Sage's state leads to",
    plan,
    ["isFolder(path) && isReal(path))", "isFolder(path))"],
    mounts("what may be read of Sage's state: "),
  ),
  without(
    "mounts a link among the folders of tools",
    plan,
    ["join(home, name)).filter(isReal)", "join(home, name)).filter(exists)"],
    mounts("folders of tools: "),
  ),
  without(
    "mounts what a link in PATH leads to",
    plan,
    ["isFolder(folder) && isReal(folder) &&", "isFolder(folder) &&"],
    mounts("PATH: "),
  ),
  without(
    "lets a link give a file a protected name",
    "src/permission/appear/appear.ts",
    [" ?? throughLinks(path, tree)", ""],
    { file: "test/permission/appear.test.ts", test: "file 644 docs/guide.md: instructions" },
  ),
  without(
    "lets the settings of a bare repository be written",
    "src/permission/appear/appear.ts",
    ["behindGit(path, tree) ?? ", ""],
    { file: "test/permission/appear.test.ts", test: "file 644 half/config: git" },
  ),
  without(
    "mounts a link among git's settings",
    plan,
    ["join(common, name)).filter(isReal)", "join(common, name)).filter(exists)"],
    mounts("git's settings: "),
  ),
  without(
    "mounts a link in the place of git's folder",
    plan,
    ['return isReal(join(root, ".git"))', 'return exists(join(root, ".git"))'],
    mounts("a link is never bound"),
  ),
  without(
    "mounts a repository that does not know the worktree",
    plan,
    ["back === own && dirname", "dirname"],
    mounts("a linked worktree brings its repository along"),
  ),
  without(
    "mounts whatever a worktree calls its repository",
    plan,
    [" && dirname(dirname(admin)) === common ?", " ?"],
    mounts("a linked worktree brings its repository along"),
  ),
  without(
    "lets somebody elsewhere choose a script of this machine",
    guarded,
    ['case "choose":\n        checkModel(command.model);', 'case "choose":'],
    rights("a script of this machine is no model"),
  ),
  without(
    "lets somebody elsewhere open a session with a script of this machine",
    guarded,
    ['case "open":\n        checkModel(command.model);', 'case "open":'],
    rights("a script of this machine is no model"),
  ),
  without(
    "takes the device that a command names",
    guarded,
    ["return { ...rest, ...from,", "return { ...command, ...from,"],
    rights("nobody names a device that is not theirs"),
  ),
  without(
    "lets a worker write a mode that came with no plan",
    checks,
    ["r.said -> 'why' ->> 'code' = 'plan-waits' AND ", ""],
    { ...planMode, test: "a yes is used once, and for what it was given to" },
  ),
  without(
    "lets a worker write another mode than the person's",
    checks,
    [" AND coalesce(f.said -> 'response' ->> 'mode', 'ask') = j ->> 'mode')", ")"],
    planMode,
  ),
  without(
    "lets a worker write a mode in the name of another",
    checks,
    ["'plan-waits' AND f.said ->> 'by' = j ->> 'by' AND", "'plan-waits' AND"],
    planMode,
  ),
  without(
    "lets a worker write a mode that came with a refused plan",
    checks,
    ["AND f.said -> 'response' ->> 'type' = 'granted' AND coalesce", "AND coalesce"],
    planMode,
  ),
  without(
    "lets a worker write a mode for another call",
    checks,
    ["starts_with(f.key, c.call) AND substr(f.key, length(c.call) + 1) ~ '${permitResolvedPattern}'\n", "true\n"],
    planMode,
  ),
  without(
    "lets a worker write a mode under a key that only looks like one",
    checks,
    ["SELECT right(k, ${callModeEnd.length}) = '${callModeEnd}' AND EXISTS", "SELECT EXISTS"],
    planMode,
  ),
  without(
    "lets a worker name a clone that has not the session's name",
    checks,
    ["AND starts_with(right(j ->> 'cwd', length(session_id) + 8), '/' || session_id || '-') AND j", "AND j"],
    clone,
  ),
  without(
    "lets a worker name a clone whose name leads elsewhere",
    checks,
    [" AND j ->> 'cwd' ~ '-[0-9a-f]{6}$'", ""],
    clone,
  ),
  without(
    "lets a worker name a clone by a relative path",
    checks,
    [" AND starts_with(j ->> 'cwd', '/')\n", "\n"],
    clone,
  ),
  without(
    "lets a worker name a clone of another remote",
    checks,
    ["f.said ->> 'cwd' = j ->> 'from' AND starts", "starts"],
    clone,
  ),
  without(
    "lets a worker name a clone of a folder of the machine",
    checks,
    [" AND starts_with(j ->> 'from', 'git+'))", ")"],
    clone,
  ),
  without(
    "lets a worker say more of a clone than where it is",
    checks,
    ["sage.has_only(j, ARRAY['cwd','from','commit']) AND ", ""],
    clone,
  ),
  without("lets a worker name a second clone", checks, ["good := k = '${workspaceKey}' AND ", "good := "], clone),
  without(
    "takes back requests of other calls with those of a call that is over",
    "src/journal/session/line.ts",
    ["if (id.startsWith(below))", "if (below)"],
    { file: "test/journal/session-requests.test.ts", test: "a call that is over takes back its own requests" },
  ),
  without(
    "takes an answer to a session that was changed after it was written",
    respond,
    ["  checkGoesOn(store, found.request);\n", ""],
    { file: "test/input/answers.test.ts", test: "where the record of the session was changed" },
  ),
  without(
    "takes a yes without the proof that its request takes",
    respond,
    [
      'if (response.type === "granted" && takesSignature(found.request) && from.signed === undefined)',
      'if (response.type === "granted" && takesSignature(found.request) && !found.request)',
    ],
    { file: "test/host/signed.test.ts", test: "it does" },
  ),
  without(
    "takes a passkey's proof from the record that belongs to another answer",
    "src/input/passkey.ts",
    ["if (!needsConsent(request)) return holds(request, resolution.response, resolution.signed);", "return true;"],
    { file: "test/host/passkey.test.ts", test: "a proof that belongs to another answer" },
  ),
  without(
    "takes a further passkey from a browser of the same machine",
    "src/cli/serve/web/passkeys.ts",
    ["if (!entered.elsewhere && own().length > 0)", "if (!entered.elsewhere && own().length > 99)"],
    { file: "test/host/passkey.test.ts", test: "takes the first alone on trust" },
  ),
  without(
    "takes a passkey that was used without verifying a person",
    "src/input/passkey.ts",
    ["const PERSON = 0x01 | 0x04;", "const PERSON = 0x01;"],
    { file: "test/host/passkey.test.ts", test: "nobody verified" },
  ),
  without(
    "takes an answer after the deadline, where nobody measured it",
    respond,
    [
      "if (isUncounted(store, found.request) && isOverdue(store, found.request))",
      "if (isOverdue(store, found.request) && !found.request)",
    ],
    deadline("that passed while nobody ran the session"),
  ),
  without(
    "expires a request by the wall clock while another process measures its time",
    respond,
    ["!duesOf(store).has(id) && store.session(session)?.owned === false", "!duesOf(store).has(id)"],
    deadline("is measured by whoever runs the session"),
  ),
  {
    // Either of the two holds by itself.
    name: "expires a request by the wall clock while this process measures its time",
    changes: [
      { file: respond, from: "!duesOf(store).has(id) && store", to: "store" },
      {
        file: "src/input/enforce.ts",
        from: "return to - gap > request.deadline.at;",
        to: "return Date.now() > request.deadline.at;",
      },
    ],
    killedBy: deadline("is measured on while its turn is paused"),
  },
  without(
    "takes a yes from another surface for the same yes again",
    respond,
    [" && completing.surface === from.surface", ""],
    repeated,
  ),
  without(
    "takes a yes of another person for the same yes again",
    respond,
    ["completing?.by === personName(from.name) && ", "completing !== undefined && "],
    repeated,
  ),
  without(
    "takes a no for the same yes again",
    respond,
    ['response.type === "granted" && completing', "completing"],
    repeated,
  ),
  without(
    "shows held text backwards",
    commits,
    ["this.#deltasAfterCommit.push(delta);", "this.#deltasAfterCommit.unshift(delta);"],
    shown,
  ),
  without(
    "shows text before the facts that it follows",
    commits,
    ["else if (!written) this.#store", "else if (written || !written) this.#store"],
    shown,
  ),
  without(
    "shows a state before the facts that it follows",
    commits,
    ['if (delta.kind === "state" && this.#buffer.length > 0)', "if (false as boolean)"],
    shown,
  ),
  without(
    "shows states backwards",
    commits,
    ["(this.#statesAfterCommit ??= []).push(delta)", "(this.#statesAfterCommit ??= []).unshift(delta)"],
    shown,
  ),
  without(
    "shows a state while the facts before it are on their way",
    commits,
    ["?.splice(0) ?? []) this.show(delta);", "?.splice(0) ?? []) this.#store.hub.delta(delta);"],
    shown,
  ),
  without(
    "names in a receipt whoever gave the latest rule",
    "src/archive/receipts.ts",
    ['fact.type === "rule.added" && fact.data.rule === rule)', 'fact.type === "rule.added")'],
    receipt,
  ),
  without(
    "names in a receipt another of the rules that allowed a call together",
    decide,
    ["...by(lastGiven(allow))", "...by(allow[0])"],
    receipt,
  ),
  without(
    "names in a receipt another rule than the strictest that asked",
    decide,
    ["asking.find((rule) => rule.consent && !isStricter(consent, rule.consent)) ?? asking[0]!", "asking[0]!"],
    receipt,
  ),
  without(
    "asks once more by the narrower rule that came with the yes",
    "src/agent/call/judge/drift.ts",
    [" && !isOwnRule(judged, again)", ""],
    { file: "test/surfaces/consent.test.ts", test: "a narrower rule in its place" },
  ),
  without(
    "offers a wider ask rule as a narrower one",
    "src/permission/suggest/suggest.ts",
    ["fits(offer) && covered(offer)", "fits(offer)"],
    { file: "test/permission/suggest.test.ts", test: "a narrower ask rule is offered" },
  ),
  without(
    "takes a rule for the policy's because it says so",
    "src/host/assembly/under-policy.ts",
    ["!known.has(canonicalJson(rule))", "!given.some(({ text }) => text === rule.text)"],
    { file: "test/config/policy.test.ts", test: "whatever parts a host is made of" },
  ),
];
