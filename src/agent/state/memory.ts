import { atOnce } from "../../base/at-once.ts";
import { Stopped, type Durable } from "../../journal/session/durable.ts";
import type { Judgement } from "../../permission/decide.ts";
import type { Blocked } from "../../protocol/confine.ts";
import type { Effect, ToolInput } from "../../protocol/facts/call.ts";
import { callEndOf, type Call, type ToolResult } from "../../protocol/facts/message.ts";
import type { PermissionOpinion, Verdict } from "../../protocol/facts/permission.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import { stepKeys } from "../../protocol/key.ts";
import { reason, type Reason, reasonOf, SageError } from "../../protocol/reasons/reason.ts";
import { misfits } from "../../protocol/reasons/misfit.ts";
import { jsonSchemaOf } from "../../tools/definition/json-schema.ts";
import type { Tool } from "../../tools/definition/tool.ts";
import type { Self, Tools } from "./context.ts";
import { canonical } from "./digest.ts";

/** An open permission request, to be judged again when a rule is added. */
export type Permit = { request: InputRequest; judge(): Verdict };

type Granted = { request: InputRequest; shown: Verdict };

/** Names that the tool's input may have, for the error of one that it has not. */
function inputFields({ inputSchema }: Tool): string[] {
  return Object.keys(jsonSchemaOf(inputSchema)["properties"] ?? {});
}

type Parsed = { ok: true; input: ToolInput } | { ok: false; problem: Reason };

/** State that a turn keeps between its calls. Ten thousand turns may wait at once, so it holds nothing before it has to. */
export class Memory {
  #seen: Map<string, string> | undefined;
  #wrote: Map<string, string> | undefined;
  #refused: Set<string> | undefined;
  #blocked: Map<string, readonly Blocked[]> | undefined;
  #grants: Map<string, Granted> | undefined;
  #judgements: Map<string, Judgement> | undefined;
  #opinions: WeakMap<ToolInput, () => PermissionOpinion> | undefined;
  #addresses: WeakMap<ToolInput, readonly string[]> | undefined;
  #parsed: WeakMap<ToolInput, Parsed> | undefined;
  #last: string | undefined;
  #beforeLast: string | undefined;
  #repeats = 0;
  #alternations = 0;
  refusalsInRow = 0;

  #allowed: readonly string[] | undefined;
  #loaded: Set<string> | undefined;

  constructor(
    seen: Map<string, string> | undefined,
    allowed?: readonly string[],
    loaded?: Set<string>,
    blocked?: Map<string, readonly Blocked[]>,
  ) {
    this.#seen = seen;
    this.#loaded = loaded;
    this.#allowed = allowed;
    this.#blocked = blocked;
  }

  /** The tools of the skill in use, if it names any. */
  get allowed(): readonly string[] | undefined {
    return this.#allowed;
  }

  /** Tools that the model searched for. */
  get loaded(): ReadonlySet<string> | undefined {
    return this.#loaded;
  }

  /** sha-256 of a file as the model last saw it. */
  seen(path: string): string | undefined {
    return this.#seen?.get(path);
  }
  /** sha-256 of what this turn last wrote to a file. */
  wrote(path: string): string | undefined {
    return this.#wrote?.get(path);
  }
  /** Records which files the model has seen: later calls of the same reply rely on it. */
  remember(result: ToolResult, effect: Effect): ToolResult {
    if (result.allowedTools) this.#allowed = result.allowedTools === "all" ? undefined : result.allowedTools;
    for (const tool of result.loaded ?? []) (this.#loaded ??= new Set()).add(tool);
    for (const [path, hash] of Object.entries(result.seen ?? {})) {
      (this.#seen ??= new Map()).set(path, hash);
      if (effect === "writes") (this.#wrote ??= new Map()).set(path, hash);
    }
    return result;
  }

  /** An input as its tool takes it. Each is checked once. */
  parse(tool: Tool, sent: ToolInput): Parsed {
    const known = this.#parsed?.get(sent);
    if (known) return known;
    const parsed = parseInput(tool, sent);
    (this.#parsed ??= new WeakMap()).set(sent, parsed);
    return parsed;
  }

  /** Instruction files that results of this step tell. */
  readonly instructed = new Set<string>();

  /** The step's calls are over: keeping all of their inputs would be the largest cost of garbage collection. */
  forgetInputs(): void {
    this.#parsed = this.#opinions = this.#addresses = undefined;
    this.instructed.clear();
  }

  /** How often in a row the same calls had the same results, or the same two steps followed each other. */
  repeats(calls: readonly Call[], results: readonly ToolResult[]): number {
    const last = calls.map((call, n) => `${sameCall(call)}\n${results[n]?.text}`).join("\n");
    this.#repeats = last === this.#last ? this.#repeats + 1 : 1;
    this.#alternations = last === this.#beforeLast && last !== this.#last ? this.#alternations + 1 : 0;
    [this.#beforeLast, this.#last] = [this.#last, last];
    return Math.max(this.#repeats, 1 + Math.floor(this.#alternations / 2));
  }
  forgetRepeats(): void {
    this.#repeats = this.#alternations = 0;
  }

  /** A yes to a request of a turn that did not live to use it, with the verdict that was shown. */
  grant(request: InputRequest, shown: Verdict): void {
    (this.#grants ??= new Map()).set(request.digest, { request, shown });
  }
  /** The request under which this was allowed; once. */
  takeGrant(covers: (digest: string) => unknown): Granted | undefined {
    const digest = [...(this.#grants?.keys() ?? [])].find(covers) ?? "";
    const granted = this.#grants?.get(digest);
    this.#grants?.delete(digest);
    return granted;
  }

  /** The judgement on a call that asks, until its request is opened: the rules to offer are made from it. */
  keepJudgement(digest: string, judgement: Judgement): void {
    (this.#judgements ??= new Map()).set(digest, judgement);
  }
  takeJudgement(digest: string): Judgement | undefined {
    const judgement = this.#judgements?.get(digest);
    this.#judgements?.delete(digest);
    return judgement;
  }

  /** The opinion that a tool had promised on this input, once it has come. */
  keepOpinion(input: ToolInput, opinion: () => PermissionOpinion): void {
    (this.#opinions ??= new WeakMap()).set(input, opinion);
  }
  opinion(input: ToolInput): (() => PermissionOpinion) | undefined {
    return this.#opinions?.get(input);
  }

  /** Addresses that the host of this input led to when it was last looked up. */
  keepAddresses(input: ToolInput, addresses: readonly string[]): void {
    (this.#addresses ??= new WeakMap()).set(input, addresses);
  }
  addresses(input: ToolInput): readonly string[] | undefined {
    return this.#addresses?.get(input);
  }

  blockedIn(command: unknown): readonly Blocked[] {
    return (typeof command === "string" && this.#blocked?.get(command)) || [];
  }
  noteBlocked(calls: readonly Call[], results: readonly ToolResult[]): void {
    for (const [n, call] of calls.entries()) this.#blocked = blockedBy(this.#blocked, call, results[n]);
  }

  /** Has the person refused exactly this call since their last message? */
  refused(call: Call): boolean {
    return this.#refused?.has(sameCall(call)) ?? false;
  }
  /** In the order of the calls and from their results alone, so that a replay remembers the same. */
  noteRefusals(calls: readonly Call[], results: readonly ToolResult[]): void {
    for (const [n, call] of calls.entries()) {
      if (results[n]?.ok) this.refusalsInRow = 0;
      const result = results[n];
      if (!result || callEndOf(result) !== "refused-by-person") continue;
      (this.#refused ??= new Set()).add(sameCall(call));
      this.refusalsInRow++;
    }
  }
  /** The person sent a message: calls that they refused before may be asked again. */
  forgetRefusals(): void {
    this.#refused = undefined;
    this.refusalsInRow = 0;
  }
}

/** Limits that each last run met. A refused host counts whatever the exit code; a path read off output only where the command failed. */
export function blockedBy(
  known: Map<string, readonly Blocked[]> | undefined,
  { input: sent }: Call,
  result: ToolResult | undefined,
): Map<string, readonly Blocked[]> | undefined {
  const { command } = result?.ran?.input ?? sent;
  if (typeof command !== "string" || result === undefined) return known;
  const missed = (result.blocked ?? []).filter((access) =>
    access.kind === "host" ? !result.ok || access.final !== true : access.kind === "write" && !result.ok,
  );
  if (missed.length === 0 && !known?.has(command)) return known;
  return (known ?? new Map<string, readonly Blocked[]>()).set(command, missed);
}

/** The same tool with the same input, however it was written. */
function sameCall({ tool, input }: Call): string {
  return `${tool}\n${canonical(input)}`;
}

/** Refusals in a row after which the turn is paused. */
const TOO_MANY = 5;

/** Five refusals in a row mean that the agent and the person are at odds: better to talk than to click. */
export function pauseIfRefused(durable: Durable, { memory, agent }: Tools & Self): void {
  if (memory.refusalsInRow < TOO_MANY || durable.known(stepKeys.paused)) return;
  // The person's next message goes to the main agent. A subagent would never see it, so it returns its task.
  if (agent.length > 0) throw new SageError("turn-failed", reason("subagent-refused", { times: TOO_MANY }));
  durable.decide(stepKeys.paused, "turn.interrupted", () => ({ to: "pause", by: "sage", surface: "refusals" }));
  durable.stop(new Stopped("interrupted", reason("refused-in-a-row", { times: TOO_MANY })));
}

/** A tool of somebody else may fail even here. */
function parseInput(tool: Tool, sent: ToolInput): Parsed {
  try {
    const result = tool.inputSchema.safeParse(atOnce(tool.adapt?.(sent), "adapt") ?? sent);
    if (result.success) return { ok: true, input: result.data as ToolInput };
    const known = (path: readonly PropertyKey[]) => (path.length === 0 ? inputFields(tool) : []);
    return { ok: false, problem: misfits(result.error, sent, known) };
  } catch (error) {
    return { ok: false, problem: reasonOf(error) };
  }
}
