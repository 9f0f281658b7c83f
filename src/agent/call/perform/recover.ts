import { statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { signalGroup } from "../../../processes/group.ts";
import { ask } from "../../../input/ask.ts";
import type { Durable } from "../../../journal/session/durable.ts";
import { Stopped } from "../../../journal/session/session.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { ToolResult } from "../../../protocol/facts/message.ts";
import type { Verdict } from "../../../protocol/facts/permission.ts";
import { choiceOf } from "../../../protocol/facts/request.ts";
import { callKeys } from "../../../protocol/key.ts";
import { type Reason, reason, messageOf } from "../../../protocol/reasons/reason.ts";
import { ownQuestion } from "../../../texts/shared/questions.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import type { Tool } from "../../../tools/definition/tool.ts";
import type { ExecutionContext } from "../../state/context.ts";
import { toolPlace } from "../judge/decision-input.ts";
import { endTurnIfSaid, waitForPerson } from "../judge/request.ts";
import type { Changes, Listed } from "../../../protocol/reasons/turn.ts";
import { ripgrep } from "../../../tools/search/ripgrep.ts";

/** A person waits for the question: what is not found by then is not told. */
const SCAN_TIMEOUT_MS = 2_000;
const MAX_FILES = 50_000;
const MAX_LISTED = 20;
/** The clock of the file system lags a little; some round to whole seconds, or to two. */
const LAG_MS = 20;
const ROUNDED_MS = 2_000;

type Lost = {
  tool: Tool;
  input: ToolInput;
  verdict: Verdict;
  round: number;
  /** Process groups of it that still live. */
  running: number[];
  /** It ran in a sandbox, which ends with Sage. */
  confined: boolean;
  /** It may run in a container, or on a machine, into which nobody here can look. */
  elsewhere?: true;
  since: number;
};

/** The person wants it to run again; the words are for the result of that run. */
export type Rerun = { rerun: string };

/** It was started once and its end is unknown: only a person may say what follows. Never silently twice. */
export async function recover(durable: Durable, context: ExecutionContext, lost: Lost): Promise<ToolResult | Rerun> {
  const { round, running } = lost;
  const run = callKeys.run(round);
  const keys = callKeys.lost(round);
  const isAsked = durable.known(keys.running) || durable.known(keys.over);
  if (lost.confined && running.length === 0 && !lost.elsewhere && !isAsked) return endUnknown(endedWithSage);
  const said: string[] = [];
  let found: Reason = reason(lost.elsewhere ? "may-run-elsewhere" : "end-unknown", {});
  // Once asked, it is followed to its end, also when the command has ended since.
  if (running.length > 0 || durable.known(keys.running)) {
    const { choice, words } = await choose(durable, context, lost, {
      key: keys.running,
      code: "lost-running",
      why: reason("outlived", { groups: running }),
    });
    if (choice !== "wait" && choice !== "kill")
      return endUnknown(
        ["The command outlived Sage and was left alone; it may still be running.", ...words].join("\n"),
      );
    said.push(...words);
    const ended = await durable.step(keys.ended, "call.unknown", async (scope) => {
      // Looked up anew: days may have passed, and the number may be somebody else's by now.
      const groups = choice === "kill" ? durable.running(run) : [];
      for (const group of groups) signalGroup(group);
      await allEnded(() => durable.running(run), scope.signal);
      return { reason: reason(groups.length > 0 ? "outlived-and-killed" : "outlived-and-ended", {}) };
    });
    found = ended.reason;
  }
  // Once asked, the request says what was found then.
  const changes = durable.known(keys.over)
    ? { problem: "" }
    : await changesSince(context.options.workingDirectory, lost.since, durable.signal);
  const { choice, why, words } = await choose(durable, context, lost, {
    key: keys.over,
    code: "lost",
    why: reason("lost-call", { known: found, changes }),
  });
  said.push(...words);
  if (choice === "rerun")
    return {
      rerun: ["(This call had begun before and was cut off. The person had it run again.)", ...said].join("\n"),
    };
  if (choice === "done")
    return {
      ok: true,
      end: "done",
      text: [
        why,
        ...said,
        "The person says that it is done. Its output is not known: look before you rely on it.",
      ].join("\n"),
      shown: { characters: 0 }, // the answer tells it
    };
  if (choice === "stop") durable.stop(new Stopped("cancelled", reason("stopped-after-loss", {})));
  return endUnknown([why, ...said, "It was not run again: check what it left behind before anything else."].join("\n"));
}

const endedWithSage =
  "This ran in the sandbox, which ended when Sage was killed: how far it came and what it printed is not known. Check what it left behind before you run it again.";

async function choose(
  durable: Durable,
  context: ExecutionContext,
  { tool, input, verdict }: Lost,
  { key, code, why }: { key: string; code: "lost" | "lost-running"; why: Reason },
): Promise<{ choice: string | undefined; why: string; words: string[] }> {
  const what = tool.specifier?.(input, toolPlace(context)) ?? JSON.stringify(input);
  const request = ownQuestion(reason(code, { tool: tool.name, what }), {
    source: "recovery",
    agent: context.agent,
    why,
    digest: verdict.digest,
  });
  const opened = ask(durable, key, request, context.asking);
  const resolution = await waitForPerson(context, opened).catch((error: unknown) => {
    if (error instanceof Stopped && error.reason.code === "read-now") return undefined; // it is read instead of a choice
    throw error;
  });
  if (resolution) endTurnIfSaid(durable, resolution, opened.request);
  const talk = context.inquiries.end(context, opened.request.id);
  const remark =
    resolution?.outcome === "answered" && "remark" in resolution.response && resolution.response.remark?.trim();
  return {
    choice: resolution && choiceOf(resolution),
    why: sentence(opened.request.why, "en"),
    words: [...(talk === undefined ? [] : [talk]), ...(remark ? [`The person said: ${JSON.stringify(remark)}`] : [])],
  };
}

async function allEnded(running: () => number[], signal: AbortSignal): Promise<void> {
  while (running().length > 0) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function endUnknown(text: string): ToolResult {
  return { ok: false, text, shown: { characters: 0, notes: [reason("exit-unknown", {})] }, end: "unknown" };
}

type Found = { files: string[]; folders: string[]; looked: number; missed?: "too-many" | "unreadable" };

/** Changes in a folder since a call started, by file times alone: an untrusted repository is not asked. Ignored files are left out. */
export async function changesSince(cwd: string, since: number, signal: AbortSignal): Promise<Changes> {
  try {
    const { files, folders, ...rest } = await look(cwd, since, signal);
    return { files: listed(files), folders: listed(folders), ...rest };
  } catch (error) {
    signal.throwIfAborted();
    return { problem: messageOf(error) };
  }
}

async function look(cwd: string, since: number, signal: AbortSignal): Promise<Found> {
  statSync(cwd);
  const found: Found = { files: [], folders: [], looked: 0 };
  const until = performance.now() + SCAN_TIMEOUT_MS;
  const folders = new Set<string>(["."]);
  try {
    for await (const path of ripgrep(["--files", "--null", cwd], "\0", signal)) {
      const name = relative(cwd, path);
      for (let folder = dirname(name); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
      if (changed(path, since)) found.files.push(name);
      if (++found.looked < MAX_FILES && performance.now() < until) continue;
      found.missed = "too-many";
      break;
    }
  } catch (error) {
    if (found.looked === 0) throw error;
    found.missed = "unreadable";
  }
  // A folder whose own time is new has lost or gained an entry; what it gained is among the files.
  const gained = new Set(found.files.map((name) => dirname(name)));
  for (const folder of folders)
    if (!gained.has(folder) && changed(join(cwd, folder), since)) found.folders.push(folder);
  return found;
}

function changed(path: string, since: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return false;
  // Renaming or restoring a file keeps the time of its content.
  const at = Math.max(found.mtimeMs, found.ctimeMs);
  return at >= since - (at % 1_000 === 0 ? ROUNDED_MS : LAG_MS);
}

function listed(names: readonly string[]): Listed {
  const first = names.toSorted().slice(0, MAX_LISTED);
  return { names: first, more: names.length - first.length };
}
