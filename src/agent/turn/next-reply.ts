import { planReminder } from "../../context/plan.ts";
import { skillForStep } from "../../context/skills.ts";
import { Stopped, type Durable, type StepScope } from "../../journal/session/durable.ts";
import { checkReply, unlessDeaf } from "../../models/reply-form.ts";
import type { ModelRequest, ModelScope } from "../../models/model.ts";
import { isOverflow } from "../../models/window.ts";
import type { TaskEnd } from "../../protocol/facts/call.ts";
import type { FactData, InjectedSkill } from "../../protocol/facts/fact.ts";
import { type Heard, textOf } from "../../protocol/facts/message.ts";
import { stepKeys } from "../../protocol/key.ts";
import { forgiven } from "../../tools/definition/forgive.ts";
import { loadImage } from "../../tools/content/image.ts";
import type { ExecutionContext, Judging, Models, Observation, Progress, Tree } from "../state/context.ts";
import { cacheKeyOf, offeredTools } from "../state/offers.ts";
import { makeAllRoom, makeRoom } from "./compact.ts";
import { addedBySage, between } from "./projection.ts";
import { enterPhase } from "../state/states.ts";
import { endOfTask } from "../state/tasks.ts";
import { loadShell } from "../../permission/load.ts";
import { loadedGrammar } from "../../permission/shell/read/grammar.ts";

/** A model that takes longer than this leaves the time for what the first command would wait for: the shell grammar, its environment. */
const THINKING_MS = 20;

/** The next reply, after making room for it where the prompt has grown too long; or what came of it, where an interrupt ended it before. */
export async function nextReply(
  durable: Durable,
  context: ExecutionContext,
  progress: Progress,
): Promise<FactData["model.replied"] | FactData["reply.interrupted"]> {
  const received: Received = { text: "", calls: [] };
  const ask = () =>
    durable.step(stepKeys.model, "model.replied", (scope) => callModel(context, progress, scope, received));
  const room = makeRoom(durable, context, progress);
  const made = room && (await room) === "all";
  if (durable.known(stepKeys.interrupted))
    return durable.decide(stepKeys.interrupted, "reply.interrupted", () => interrupted(context, progress, received));
  try {
    if (made) return await ask();
    return await ask().catch(async (error: unknown) => {
      if (!isOverflow(error) || !(await makeAllRoom(durable, context, progress))) throw error;
      return ask();
    });
  } catch (error) {
    const { stopped } = durable;
    const byPerson = stopped instanceof Stopped && (stopped.why === "interrupted" || stopped.why === "cancelled");
    if (byPerson && context.agent.length === 0 && (received.text.trim() !== "" || received.calls.length > 0))
      durable.decide(stepKeys.interrupted, "reply.interrupted", () =>
        interrupted(context, progress, received, stopped),
      );
    throw error;
  }
}

/** A reply so far. Thoughts are left out: providers refuse them without their signature. */
type Received = { text: string; calls: string[] };

function interrupted(
  { config }: Models,
  { asked, sawUpTo }: Progress,
  { text, calls }: Received,
  stopped?: Stopped,
): FactData["reply.interrupted"] {
  const args: object = stopped?.reason.args ?? {};
  const by = "by" in args ? String(args.by) : "";
  return { ...(asked ?? { sawUpTo }), text, calls: [...calls], model: config.model.id, by };
}

const none: readonly never[] = [];

/** Asks the model for a reply to everything said so far; messages that come meanwhile are for the next step. */
async function callModel(
  context: ExecutionContext,
  progress: Progress,
  scope: StepScope,
  received: Received,
): Promise<FactData["model.replied"]> {
  const { model, tools, system, keepDir } = context.config;
  const heard = progress.hear(progress.sawUpTo);
  const fresh = between(progress.said, progress.sawUpTo, heard);
  progress.asked = heard;
  enterPhase(context, "callingLlm", heard.sawUpTo);
  if (tools.ready) await tools.ready(scope.signal, (why) => scope.notice(why));
  const ended = newlyEnded(context);
  const planning = context.mode() === "plan" ? [planReminder(context.agent)] : none;
  const skill = matchSkill(context, progress, heard);
  const { talk } = progress;
  const told: Pick<FactData["model.replied"], "ended" | "skill" | "talk"> = {};
  if (ended.length > 0) told.ended = ended;
  if (skill) told.skill = skill;
  if (talk !== undefined) told.talk = talk;
  const added = addedBySage(told);
  const messages =
    fresh.length + added.length + planning.length > 0
      ? [...progress.messages, ...fresh, ...added, ...planning]
      : progress.messages;
  const request: ModelRequest = {
    system,
    messages,
    tools: offeredTools(context),
    agent: context.agent,
    image: (image) => loadImage(keepDir, image),
    options: context.options.llmOptions,
    cacheKey: cacheKeyOf(context),
    fleeting: planning.length,
  };
  const thinking = tools.get("Bash") && beginThinking(context);
  const working = context.activity.begin(); // not with `using`, for which the engine leaves compiled code three times
  try {
    const reply = await unlessDeaf(model.reply(request, modelScope(scope, received)), scope.signal);
    checkReply(reply, model.id);
    for (const { id } of ended) context.tree.toldTasks.add(id);
    const parts = reply.parts.map((part) => (part.type === "call" ? forgiven(part, tools) : part));
    return { ...reply, parts, ...heard, ...told };
  } finally {
    if (thinking) endThinking(thinking);
    working[Symbol.dispose]();
  }
}

/** The skill that fits this step. A subagent hears nobody: its task is what was said to it. */
function matchSkill(
  { config: { matchSkills = none } }: Pick<Models, "config">,
  { said, messages }: Progress,
  { sawUpTo, without = [] }: Heard,
): InjectedSkill | undefined {
  if (matchSkills.length === 0) return undefined;
  const last = said.findLast(({ seq }) => seq <= sawUpTo && !without.includes(seq))?.data.text;
  const task = messages.find((message) => message.role === "user")?.text ?? "";
  const reply = messages.findLast((message) => message.role === "assistant");
  return skillForStep(matchSkills, { said: last ?? task, doing: reply ? textOf(reply) : "", messages });
}

/** Told to the root alone: a subagent has a task of its own. */
function newlyEnded({ agent, tree }: Observation & Tree): readonly TaskEnd[] {
  if (agent.length > 0 || tree.tasks.size === 0) return none;
  return [...tree.tasks.values()].flatMap((task) => (tree.toldTasks.has(task.id) ? [] : (endOfTask(task) ?? [])));
}

/** Nothing is shown of a model that was told to stop: it may not listen, and its turn may be over. */
function modelScope(scope: StepScope, received: Received): ModelScope {
  const { signal } = scope;
  return {
    signal,
    text(delta) {
      if (signal.aborted) return;
      received.text += delta;
      scope.delta("text", delta);
    },
    reasoning: (delta) => void (signal.aborted || scope.delta("reasoning", delta)),
    calling: (tool) => void (signal.aborted || received.calls.push(tool)),
    retry(why) {
      if (signal.aborted) return;
      Object.assign(received, { text: "", calls: [] });
      scope.restart();
      scope.notice(why);
    },
  };
}

type Thinking = { since: number; config: Pick<Judging["config"], "env"> };

let followed: Thinking | undefined;
let timer: NodeJS.Timeout | undefined;

/** A model was asked. One timer serves all replies: with one for each, a quick model would pay for setting and clearing it. */
function beginThinking({ config }: Pick<Judging, "config">): Thinking | undefined {
  if (followed || loadedGrammar()) return undefined;
  followed = { since: performance.now(), config };
  timer ??= setTimeout(look, THINKING_MS).unref();
  return followed;
}

function endThinking(thinking: Thinking): void {
  if (followed === thinking) followed = undefined;
}

function look(): void {
  timer = undefined;
  if (!followed) return;
  const left = followed.since + THINKING_MS - performance.now();
  if (left > 0) {
    timer = setTimeout(look, left).unref();
    return;
  }
  void loadShell();
  void followed.config.env;
}
