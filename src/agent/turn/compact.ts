import {
  applyCompaction,
  coverable,
  preserved,
  recentFrom,
  summaryInstructions,
  transcript,
} from "../../context/compaction.ts";
import { estimateTokens, totalTokens } from "../../context/tokens.ts";
import type { Durable, StepScope } from "../../journal/durable.ts";
import type { Model } from "../../models/model.ts";
import { contextWindow, isOverflow } from "../../models/window.ts";
import { messageOf, noUsage, textOf, type Compaction, type FactData, type Usage } from "../../protocol/index.ts";
import { callModel } from "./call-model.ts";
import type { ExecutionContext, Progress } from "../state/context.ts";
import { between } from "./projection.ts";
import { spend } from "./spend.ts";
import { enterPhase } from "../state/states.ts";

/** Results older than these steps, and longer than this, are the first to go. */
const RECENT_STEPS = 4;
const LONG_RESULT = 2_000;
/** Where room has to be made whatever it costs. */
const LONG_AT_WORST = 200;
const LONG_IN_LAST_STEP = 4_000;
/** Less would soon have to be done again, and every time the provider's cache is lost. */
const WORTHWHILE = 0.25;
const KEPT = 0.25;

/** The next reply, after making room for it where the prompt has grown too long. */
export async function nextReply(d: Durable, c: ExecutionContext, p: Progress): Promise<FactData["model.replied"]> {
  const ask = () => d.step("model", "model.replied", (scope) => callModel(c, p, scope));
  // What an earlier attempt did is done again from its fact; what it did not do is never done after the fact.
  if (d.known("compact")) await compact(d, "compact", c, p);
  else if (!d.known("model") && promptTokens(c, p) > limitOf(c)) await compact(d, "compact", c, p, planSoft(c, p));
  if (d.known("compact1")) {
    await compact(d, "compact1", c, p);
    return ask();
  }
  try {
    return await ask();
  } catch (error) {
    const plan = isOverflow(error) ? planHard(c, p) : undefined;
    if (!plan) throw error;
    await compact(d, "compact1", c, p, plan);
    return ask();
  }
}

/** By hand: everything but the last step is summarised. False when there is too little to be worth it. */
export async function compactNow(d: Durable, c: ExecutionContext, p: Progress): Promise<boolean> {
  const cover = coverable(p.messages, 0);
  if (cover <= 1 && !d.known("compact")) return false;
  await compact(d, "compact", c, p, { cover });
  return true;
}

/** A reply's usage is the provider's own count of everything up to it. Where there is none, the estimate is carried on. */
export function count(c: ExecutionContext, p: Progress, { inputTokens, outputTokens }: Usage): void {
  const tokens = inputTokens > 0 ? inputTokens + outputTokens : countedTokens(c, p);
  p.counted = { messages: p.messages.length, tokens };
}

type Plan = {
  trim?: Compaction["trim"];
  /** A summary is to cover this many messages. */
  cover?: number;
  /** When the summary cannot be written. */
  otherwise?: Plan;
};

async function compact(
  d: Durable,
  key: "compact" | "compact1",
  c: ExecutionContext,
  p: Progress,
  plan?: Plan,
): Promise<void> {
  if (!plan && !d.known(key)) return;
  const done = await d.step(key, "context.compacted", (scope) => carryOut(c, p, plan as Plan, scope));
  p.messages = applyCompaction(p.messages, done);
  p.summary = done.summary ?? p.summary;
  p.counted = { messages: 0, tokens: 0 };
  if (done.summary) spend(c, { usage: done.usage, model: summariser(c).id });
}

async function carryOut(c: ExecutionContext, p: Progress, plan: Plan, scope: StepScope): Promise<Compaction> {
  enterPhase(c, "preparingContext");
  const before = promptTokens(c, p);
  scope.delta("notice", `The conversation is long (about ${inWords(before)} tokens); room is being made.`);
  const finish = (usage: Usage, { trim, cover }: Plan, text: string): Compaction => {
    const summary = cover === undefined ? undefined : { upTo: cover, text, ...preserved(p.messages, cover, p.summary) };
    const done = { ...(trim && { trim }), ...(summary && { summary }), usage };
    const after = fixedTokens(c) + totalTokens(applyCompaction(p.messages, { ...done, tokens: { before, after: 0 } }));
    return { ...done, tokens: { before, after } };
  };
  if (plan.cover === undefined) return finish(noUsage, plan, "");
  try {
    const { text, usage } = await summarise(c, p, plan.cover, scope);
    return finish(usage, plan, text);
  } catch (error) {
    if (scope.signal.aborted) throw error;
    scope.delta("notice", `It could not be summarised (${messageOf(error)}); older parts are left out instead.`);
    return finish(noUsage, plan.otherwise ?? plan, "");
  }
}

async function summarise(
  c: ExecutionContext,
  p: Progress,
  upTo: number,
  scope: StepScope,
): Promise<{ text: string; usage: Usage }> {
  const model = summariser(c);
  const text = transcript(p.messages.slice(0, upTo), contextWindow(model.id) * 0.6);
  const reply = await c.activity.during(() =>
    model.reply(
      {
        system: summaryInstructions,
        messages: [{ role: "user", text: `The transcript:\n\n${text}` }],
        tools: [],
        options: {},
        agent: [...c.agent, "summary"],
      },
      {
        get signal() {
          return scope.signal;
        },
        text() {},
        reasoning() {},
        retry: (reason) => scope.delta("notice", reason),
      },
    ),
  );
  const summary = textOf(reply).trim();
  if (summary === "") throw new Error("the model wrote nothing");
  return { text: summary, usage: reply.usage };
}

function summariser({ config }: ExecutionContext): Model {
  return config.smallModel ?? config.model;
}

/** Over the threshold: long old results first, which costs nothing; else a summary of all but the recent steps. */
function planSoft(c: ExecutionContext, { messages }: Progress): Plan | undefined {
  const limit = limitOf(c);
  const enough = (plan: Plan) => sizeAfter(c, messages, plan) <= limit * (1 - WORTHWHILE);
  const gentle: Plan = { trim: { upTo: recentFrom(messages, RECENT_STEPS), longest: LONG_RESULT } };
  if (enough(gentle)) return gentle;
  const cover = coverable(messages, limit * KEPT);
  if (totalTokens(messages.slice(0, cover)) < limit * WORTHWHILE) return undefined;
  const harder: Plan = { trim: { upTo: recentFrom(messages, 1), longest: LONG_AT_WORST } };
  return { cover, otherwise: enough(harder) ? harder : { cover } };
}

/** The provider has refused the prompt, so the count was wrong: keep the last step only, and that shortened. */
function planHard(c: ExecutionContext, { messages }: Progress): Plan | undefined {
  const cover = coverable(messages, 0);
  const plan: Plan = {
    trim: { upTo: messages.length, longest: LONG_IN_LAST_STEP },
    ...(cover > 1 && { cover }),
  };
  return sizeAfter(c, messages, plan) < fixedTokens(c) + totalTokens(messages) ? plan : undefined;
}

function sizeAfter(c: ExecutionContext, messages: Progress["messages"], { trim, cover = 0 }: Plan): number {
  const done = { ...(trim && { trim }), tokens: { before: 0, after: 0 }, usage: noUsage };
  return fixedTokens(c) + totalTokens(applyCompaction(messages, done), cover);
}

function promptTokens(c: ExecutionContext, p: Progress): number {
  return countedTokens(c, p) + totalTokens(between(p.said, p.sawUpTo, p.said.at(-1)?.seq ?? 0));
}

function countedTokens(c: ExecutionContext, { counted, messages }: Progress): number {
  return (counted.tokens || fixedTokens(c)) + totalTokens(messages, counted.messages);
}

/** The system prompt and the tools, which no compaction makes smaller. */
function fixedTokens({ config }: ExecutionContext): number {
  let tokens = fixed.get(config);
  if (tokens === undefined) {
    tokens = Math.ceil(estimateTokens(config.system) + estimateTokens(JSON.stringify(config.tools.offers())));
    fixed.set(config, tokens);
  }
  return tokens;
}

const fixed = new WeakMap<object, number>();

function limitOf({ config, options }: ExecutionContext): number {
  return (options.maxContextTokens ?? contextWindow(config.model.id)) * options.autoCompactThreshold;
}

function inWords(tokens: number): string {
  return Math.round(tokens).toLocaleString("en");
}
