import {
  applyCompaction,
  countTokens,
  coverable,
  estimateTokens,
  preserved,
  recentFrom,
  summaryInstructions,
  totalTokens,
  transcript,
} from "../../context/compaction.ts";
import { extractOf } from "../../context/extract.ts";
import type { Durable, StepScope } from "../../journal/session/durable.ts";
import type { Awaitable } from "../../journal/store/store.ts";
import { checkReply, unlessDeaf } from "../../models/reply-form.ts";
import type { Model } from "../../models/model.ts";
import { contextWindow } from "../../models/window.ts";
import type { Compaction, Summary } from "../../protocol/facts/fact.ts";
import { noUsage, textOf, type Message, type Usage } from "../../protocol/facts/message.ts";
import { parentCallOfKey, stepKeys } from "../../protocol/key.ts";
import { reason, reasonOf, SageError } from "../../protocol/reasons/reason.ts";
import type { Limits, Models, Observation, People, Progress, Tree } from "../state/context.ts";
import { between } from "./projection.ts";
import { spend } from "../state/spend.ts";
import { enterPhase } from "../state/states.ts";

/** Results older than these steps, and longer than this, are the first to go. */
const RECENT_STEPS = 4;
const LONG_RESULT = 2_000;
/** Longest result kept where room has to be made whatever it costs. */
const LONG_AT_WORST = 200;
const LONG_IN_LAST_STEP = 4_000;
/** Less would soon have to be done again, and every time the provider's cache is lost. */
const WORTHWHILE = 0.25;
const KEPT = 0.25;
/** Share of the room for the person's words and decisions, beside a summary. */
const EXTRACT = 0.2;

/** Makes room; earlier compactions come from their facts, and none is added in the past. "all": that attempt made all the room there is. */
export function makeRoom(durable: Durable, context: Compacting, progress: Progress): Awaitable<"all" | undefined> {
  const isOver = () => !durable.known(stepKeys.model) && promptTokens(context, progress) > limitOf(context);
  const needed = durable.known(stepKeys.compact) || durable.known(stepKeys.compactAll) || isOver();
  return needed ? takeRoom(durable, context, progress, isOver) : undefined;
}

async function takeRoom(durable: Durable, context: Compacting, progress: Progress, isOver: () => boolean) {
  if (durable.known(stepKeys.compact)) await compact(durable, stepKeys.compact, context, progress);
  else if (isOver()) await compact(durable, stepKeys.compact, context, progress, planSoft(context, progress));
  if (!durable.known(stepKeys.compactAll)) return undefined;
  await compact(durable, stepKeys.compactAll, context, progress);
  return "all";
}

/** The provider has refused the prompt as too long. False when there is nothing to leave out. */
export async function makeAllRoom(durable: Durable, context: Compacting, progress: Progress): Promise<boolean> {
  const plan = planHard(context, progress);
  if (plan) await compact(durable, stepKeys.compactAll, context, progress, plan);
  return plan !== undefined;
}

/** Compacts by hand: everything but the last step is summarised. False when there is too little to be worth it. */
export async function compactNow(durable: Durable, context: Compacting, progress: Progress): Promise<boolean> {
  const cover = coverable(progress.messages, 0);
  if (cover <= 1 && !durable.known(stepKeys.compact)) return false;
  await compact(durable, stepKeys.compact, context, progress, { cover });
  return true;
}

/** A reply's usage is the provider's own count of everything up to it. */
export function count(progress: Progress, { inputTokens, outputTokens }: Usage): void {
  if (inputTokens > 0) progress.counted = { messages: progress.messages.length, tokens: inputTokens + outputTokens };
}

/** Reads the model and the journal, and counts and shows what it does. */
type Compacting = Models & Limits & Observation & Tree & Pick<People, "record">;

type Plan = {
  trim?: Compaction["trim"];
  /** A summary is to cover this many messages. */
  cover?: number;
  /** When the summary cannot be written. */
  otherwise?: Plan;
};

async function compact(
  durable: Durable,
  key: typeof stepKeys.compact | typeof stepKeys.compactAll,
  context: Compacting,
  progress: Progress,
  plan?: Plan,
): Promise<void> {
  if (!plan && !durable.known(key)) return;
  const done = await durable.step(key, "context.compacted", (scope) =>
    carryOut(context, progress, plan as Plan, scope),
  );
  progress.messages = applyCompaction(progress.messages, done);
  progress.summary = done.summary ?? progress.summary;
  progress.counted = { messages: 0, tokens: 0 };
  if (done.summary) spend(context, { usage: done.usage, model: summariser(context).id });
}

async function carryOut(context: Compacting, progress: Progress, plan: Plan, scope: StepScope): Promise<Compaction> {
  enterPhase(context, "preparingContext");
  const before = promptTokens(context, progress);
  scope.notice(reason("makes-room", { tokens: before }));
  const facts = plan.cover === undefined ? [] : await context.record();
  const finish = (usage: Usage, { trim, cover }: Plan, text: string): Compaction => {
    const summary = cover === undefined ? undefined : { upTo: cover, text, ...toTheLetter(cover) };
    const model = usage === noUsage ? {} : { model: summariser(context).id };
    const done = { ...(trim && { trim }), ...(summary && { summary }), usage, ...model };
    const after =
      fixedTokens(context) + totalTokens(applyCompaction(progress.messages, { ...done, tokens: { before, after: 0 } }));
    return { ...done, tokens: { before, after } };
  };
  const toTheLetter = (cover: number): Pick<Summary, "task" | "todos" | "extract"> => {
    const { messages, summary: before } = progress;
    const shown = messages.slice(cover).flatMap((message) => (message.role === "user" ? [message.text] : []));
    const within = parentCallOfKey(scope.place.key);
    const extract = extractOf(facts, { within, shown, maxTokens: limitOf(context) * EXTRACT });
    return { ...preserved(messages, cover, { before, isSubagent: within !== undefined }), extract };
  };
  if (plan.cover === undefined) return finish(noUsage, plan, "");
  try {
    const { text, usage } = await summarise(context, progress, plan.cover, scope);
    return finish(usage, plan, text);
  } catch (error) {
    if (scope.signal.aborted) throw error;
    scope.notice(reason("not-summarised", { problem: reasonOf(error) }));
    return finish(noUsage, plan.otherwise ?? plan, "");
  }
}

async function summarise(
  context: Compacting,
  progress: Progress,
  upTo: number,
  scope: StepScope,
): Promise<{ text: string; usage: Usage }> {
  const model = summariser(context);
  const text = transcript(progress.messages.slice(0, upTo), contextWindow(model.id) * 0.6);
  using _working = context.activity.begin();
  const replying = model.reply(
    {
      system: summaryInstructions,
      messages: [{ role: "user", text: `The transcript:\n\n${text}` }],
      tools: [],
      options: {},
      agent: [...context.agent, "summary"],
    },
    {
      get signal() {
        return scope.signal;
      },
      text() {},
      reasoning() {},
      retry: (why) => scope.notice(why),
    },
  );
  const reply = await unlessDeaf(replying, scope.signal);
  checkReply(reply, model.id);
  const summary = textOf(reply).trim();
  if (summary === "") throw new SageError("model-unavailable", reason("empty-summary", {}));
  return { text: summary, usage: reply.usage };
}

function summariser({ config }: Models): Model {
  return config.smallModel ?? config.model;
}

/** Over the threshold: long old results first, which costs nothing; else a summary of all but the recent steps. */
function planSoft(context: Models, { messages }: Progress): Plan | undefined {
  const limit = limitOf(context);
  const enough = (plan: Plan) => sizeAfter(context, messages, plan) <= limit * (1 - WORTHWHILE);
  const gentle: Plan = { trim: { upTo: recentFrom(messages, RECENT_STEPS), longest: LONG_RESULT } };
  if (enough(gentle)) return gentle;
  const cover = coverable(messages, limit * KEPT);
  if (totalTokens(messages.slice(0, cover)) < limit * WORTHWHILE) return undefined;
  const harder: Plan = { trim: { upTo: recentFrom(messages, 1), longest: LONG_AT_WORST } };
  return { cover, otherwise: enough(harder) ? harder : { cover } };
}

/** The provider has refused the prompt, so the count was wrong: keep the last step only, and that shortened. */
function planHard(context: Models, { messages }: Progress): Plan | undefined {
  const cover = coverable(messages, 0);
  const plan: Plan = {
    trim: { upTo: messages.length, longest: LONG_IN_LAST_STEP },
    ...(cover > 1 && { cover }),
  };
  return sizeAfter(context, messages, plan) < fixedTokens(context) + totalTokens(messages) ? plan : undefined;
}

function sizeAfter(context: Models, messages: Progress["messages"], { trim, cover = 0 }: Plan): number {
  const done = { ...(trim && { trim }), tokens: { before: 0, after: 0 }, usage: noUsage };
  return fixedTokens(context) + totalTokens(applyCompaction(messages, done), cover);
}

function promptTokens(context: Models, progress: Progress): number {
  const heard = progress.hear(progress.sawUpTo);
  return countedTokens(context, progress) + totalTokens(between(progress.said, progress.sawUpTo, heard));
}

/** Adds an estimate of messages that no provider has counted, each once, and keeps the sum. A replay needs neither. */
function countedTokens(context: Models, progress: Progress): number {
  const { counted, messages } = progress;
  let tokens = counted.tokens || fixedTokens(context);
  for (let n = counted.messages; n < messages.length; n++) tokens += countTokens(messages[n] as Message);
  progress.counted = { messages: messages.length, tokens };
  return tokens;
}

/** The system prompt and the tools, which no compaction makes smaller. */
function fixedTokens({ config }: Models): number {
  const { system, tools } = config;
  const offers = tools.offers();
  const counted = fixed.get(offers);
  if (counted?.system === system) return counted.tokens;
  const tokens = Math.ceil(estimateTokens(system) + estimateTokens(JSON.stringify(offers)));
  fixed.set(offers, { system, tokens });
  return tokens;
}

/** Cached by the tools, which all runs of one agent share. */
const fixed = new WeakMap<object, { system: string; tokens: number }>();

function limitOf({ config, options }: Models): number {
  return (options.maxContextTokens ?? contextWindow(config.model.id)) * options.autoCompactThreshold;
}
