import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { noUsage, type Call, type Finish, type Part, type Usage } from "../protocol/facts/message.ts";
import { said, messageOf, SageError } from "../protocol/reasons/reason.ts";
import * as z from "../base/z.ts";
import type { Model, ModelRequest, ModelScope } from "./model.ts";
import { sleep } from "./sleep.ts";

/** A reply of a scripted model. */
export type ScriptedTurn = {
  reasoning?: string;
  text?: string;
  calls?: ScriptedCall[];
  /** How long the reply takes to stream. */
  delayMs?: number;
  usage?: Partial<Usage>;
  finish?: Finish;
};

/** A call of a scripted reply. */
export type ScriptedCall = Omit<Call, "type" | "id"> & { id?: string };

/** Replies in their order; a function makes one from the request. */
export type ScriptedTurns = readonly (ScriptedTurn | ((request: ModelRequest) => ScriptedTurn))[];

/** Turns of the root agent, or turns by agent path joined with "/" (the root's is ""); `path@task` is for one task alone. */
export type Script = ScriptedTurns | Readonly<Record<string, ScriptedTurns>>;

/** Plays turns from a script. The messages tell which is next, so a new process continues where the last one stopped. */
export function scripted(script: Script, id = "scripted"): Model {
  const byAgent: Readonly<Record<string, ScriptedTurns>> = isTurns(script) ? { "": script } : script;
  return {
    id,
    async reply(request, scope) {
      const agent = request.agent.join("/");
      const step = countReplies(request);
      const turns = byAgent[`${agent}@${taskOf(request)}`] ?? byAgent[agent];
      const next = turns?.[step];
      if (!next) {
        throw new SageError(
          "model-unavailable",
          said(
            `the script has no turn ${step} for ${agent === "" ? "the root agent" : `agent "${agent}"`}: ${turns ? `it has ${turns.length}, counted from 0` : `it has none under "${agent}"`}`,
          ),
        );
      }
      const turn = typeof next === "function" ? next(request) : next;
      await stream(turn, scope);
      const calls = (turn.calls ?? []).map((call, n): Call => ({
        type: "call",
        ...call,
        id: call.id ?? `call_${step}_${n}`,
      }));
      return {
        parts: [...spoken("reasoning", turn.reasoning), ...spoken("text", turn.text), ...calls],
        usage: { ...noUsage, ...turn.usage },
        finish: turn.finish ?? (calls.length > 0 ? "calls" : "stop"),
        model: id,
      };
    },
  };
}

/** A script from a JSON file, where a turn cannot be a function. */
export async function loadScript(path: string): Promise<Script> {
  const call = z.strictObject({
    tool: z.string(),
    input: z.record(z.string(), z.unknown()),
    id: z.string().optional(),
    malformed: z.string().optional(),
  });
  const turn = z.strictObject({
    reasoning: z.string().optional(),
    text: z.string().optional(),
    calls: z.array(call).optional(),
    delayMs: z.number().nonnegative().optional(),
    usage: z
      .partialRecord(z.enum(["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"]), z.number())
      .optional(),
    finish: z.enum(["stop", "calls", "length", "filtered", "other"]).optional(),
  });
  const script = z.union([z.array(turn), z.record(z.string(), z.array(turn))]);
  try {
    return script.parse(JSON.parse(await readFile(path, "utf8"))) as Script;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT")
      throw new SageError("config-invalid", said(`there is no file ${path} to play as a script`));
    const reason = messageOf(error);
    throw new SageError(
      "config-invalid",
      said(
        `${path} should be a JSON list of turns like {"text": "…", "calls": [{"tool": "…", "input": {}}]}, or such lists by agent path: ${reason}`,
      ),
    );
  }
}

function isTurns(script: Script): script is ScriptedTurns {
  return Array.isArray(script);
}

/** A short name for a subagent's task: two of one kind may play different turns. */
export function taskHash(task: string): string {
  return hash("sha256", task, "hex").slice(0, 8);
}

function taskOf({ agent, messages }: ModelRequest): string {
  const [first] = messages;
  return agent.length > 0 && first?.role === "user" ? taskHash(first.text) : "";
}

/** The ids of its own calls tell where it was, also when the beginning of the conversation is gone. */
function countReplies({ agent, messages }: ModelRequest): number {
  let count = 0;
  // A reply to an inquiry is no part of the conversation that it begins with.
  const from = agent.at(-1) === "inquiry" ? messages.findLastIndex(({ role }) => role === "user") : 0;
  for (const message of messages.slice(from)) {
    if (message.role !== "assistant") continue;
    const own = message.parts.find((part) => part.type === "call")?.id.match(/^call_(\d+)_\d+$/);
    count = own ? Number(own[1]) + 1 : count + 1;
  }
  return count;
}

function spoken(type: "text" | "reasoning", text = ""): Part[] {
  return text === "" ? [] : [{ type, text }];
}

async function stream({ reasoning = "", text = "", delayMs = 0 }: ScriptedTurn, scope: ModelScope): Promise<void> {
  const thoughts = pieces(reasoning);
  const deltas = [...thoughts, ...pieces(text)];
  const pauseMs = delayMs / Math.max(1, deltas.length);
  if (deltas.length === 0 && delayMs > 0) await sleep(delayMs, scope.signal);
  for (const [n, delta] of deltas.entries()) {
    if (delayMs > 0) await sleep(pauseMs, scope.signal);
    scope[n < thoughts.length ? "reasoning" : "text"](delta);
  }
}

/** Cuts between code points, so that no character is torn in two. */
function pieces(text: string): string[] {
  return text.match(/[^]{1,16}/gu) ?? [];
}
