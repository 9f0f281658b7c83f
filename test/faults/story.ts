// The fixed story that is broken off at every boundary: a read, a mixed batch with two requests and a question, a refusal,
// subagents at depth two, a last act, and the end.
import { hash } from "node:crypto";
import type { Script } from "../../src/models/scripted.ts";
import type { InputResponse } from "../../src/protocol/facts/answer.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { askUser, question } from "../support/sage.ts";
import type { Fault, Life, Process, World } from "./world.ts";
import { until } from "../support/until.ts";

const act = (mark: string) => ({ tool: "Act", input: { mark } });
const save = (mark: string) => ({ tool: "Save", input: { mark, note: `content of ${mark}` } });
const look = (mark: string) => ({ tool: "Look", input: { mark } });
const task = (agent: string) => ({ tool: "Task", input: { agent, description: "do it", prompt: `work as ${agent}` } });

export const story: Script = {
  "": [
    { calls: [look("look-0")] },
    { calls: [act("act-0"), askUser(question("Which colour?")), save("save-0"), look("look-1"), act("refused-0")] },
    { calls: [task("GeneralPurpose"), act("act-1"), task("Asker")] },
    { text: "all done" },
  ],
  GeneralPurpose: [{ calls: [task("Asker"), save("save-1")] }, { text: "middle" }],
  "GeneralPurpose/Asker": [{ calls: [act("deep-0"), look("look-2")] }, { text: "deep" }],
  Asker: [{ calls: [askUser(question("From below?")), save("save-2")] }, { text: "asked" }],
};

/** Answers of a person: yes to all but what is called refused, and what `lost` says to an interrupted call. */
export function reply(request: InputRequest, lost: string): InputResponse {
  const requestId = request.id;
  if (request.kind === "permission")
    return String(request.input["mark"]).startsWith("refused")
      ? { type: "denied", requestId, reason: "not that one" }
      : { type: "granted", requestId };
  if (request.kind === "text") return { type: "text", requestId, text: "some text" };
  const wanted = request.source === "recovery" ? lost : "Blue";
  const answers = request.questions.map(({ question: text, options }) => [
    text,
    options.length === 0
      ? { selected: [], other: "some words" }
      : { selected: [options.find(({ label }) => label === wanted)?.label ?? options[0]!.label] },
  ]);
  return { type: "answers", requestId, answers: Object.fromEntries(answers) };
}

export type Telling = {
  /** One life after the other; the last one has no fault. */
  faults: readonly Fault[];
  lost?: string;
  session?: string;
  life?(n: number): Life;
  /** Each life after a crash is recovered twice before anybody answers. */
  recoverTwice?: boolean;
};

/** Tells the story to its end, through as many lives as it takes. Gives what the last life passed. */
export async function tell(world: World, telling: Telling): Promise<{ process: Process; crashes: number }> {
  const { faults, lost = "done", session = "s", life = () => ({}) } = telling;
  let crashes = 0;
  for (let n = 0; ; n++) {
    if (n > 0 && telling.recoverTwice) await recoverTwice(world, session, life(n));
    const process = world.boot({ ...life(n), fault: faults[n] });
    await begin(world, process, session);
    const person = attend(world, process, session, (request) => reply(request, lost));
    const outcome = await Promise.race([
      process.host.run(session).catch(() => undefined),
      process.died.then(() => undefined),
    ]);
    await person.leave();
    if (!process.dead && outcome)
      world.observe(process.name, { type: "ended", session, status: outcome.status, messages: outcome.messages });
    await process.bury();
    if (!process.dead) return { process, crashes };
    crashes++;
  }
}

async function begin(world: World, process: Process, session: string): Promise<void> {
  await process.send({ type: "open", session, cwd: world.dir });
  const said = await process.send({ type: "say", session, text: "go", id: "first", by: "Lin", surface: "a" });
  if (said?.ok !== false) world.observe(process.name, { type: "said", session });
}

/** A surface with a person at it. */
export function attend(
  world: Pick<World, "observe" | "isDurable" | "durable">,
  process: Pick<Process, "name" | "dead" | "answer"> & { host: Pick<Process["host"], "watch"> },
  session: string,
  answer: (request: InputRequest) => InputResponse | undefined,
  surface = "a",
): { leave(): Promise<void> } {
  const leaving = new AbortController();
  const open = new Map<string, InputRequest>();
  const presented = new Set<string>();
  let knows = 0;
  let ready = false;
  const present = async () => {
    for (let first = next(); first; first = next()) {
      presented.add(first.id);
      const durable = world.isDurable(session, first.id.slice(session.length + 1));
      world.observe(process.name, {
        type: "shown",
        surface,
        session,
        request: first.id,
        durable,
        open: [...open.keys()],
      });
      const response = answer(first);
      if (!response) return;
      await process.answer(surface, response);
      open.delete(first.id);
      if (process.dead) return;
    }
  };
  /** The oldest, unless the person has it before them already. */
  const next = () => {
    const [oldest] = open.values();
    return oldest && !presented.has(oldest.id) ? oldest : undefined;
  };
  const watching = (async () => {
    try {
      for await (const event of process.host.watch(session, { signal: leaving.signal })) {
        if (process.dead) return;
        if (event.type === "fact") {
          knows = event.fact.seq;
          if (event.fact.type === "input.resolved") open.delete(event.fact.data.requestId);
          // It may have been in the list of open ones already, and answered since.
          if (event.fact.type === "input.requested" && !presented.has(event.fact.data.id))
            open.set(event.fact.data.id, event.fact.data);
        }
        if (event.type === "ready") {
          const requests = event.requests.map(({ request }) => request.id);
          world.observe(process.name, { type: "ready", surface, session, knows, durable: world.durable(), requests });
          ready = true;
          open.clear();
          for (const { request } of event.requests) open.set(request.id, request);
        }
        if (ready) await present();
      }
    } catch {
      // the process died
    }
  })();
  return {
    async leave() {
      leaving.abort();
      await watching;
    },
  };
}

/** Recovers, does nothing, is killed, and recovers again. */
async function recoverTwice(world: World, session: string, life: Life): Promise<void> {
  for (let n = 0; n < 2; n++) {
    const process = world.boot({ ...life, fault: undefined });
    await process.send({ type: "resume", session });
    await settle(world);
    await until(() => !isLooking(world, session));
    await settle(world);
    observeSettled(world, [process]);
    world.observe(process.name, { type: "recovered", session, state: stateOf(world, session) });
    process.crash();
    await process.bury();
  }
}

/** A call whose end is unknown is asked about once a real program has looked what it changed, and that takes its time. */
function isLooking(world: World, session: string): boolean {
  const facts = world.facts(session);
  const keys = new Set(facts.map(({ key }) => key));
  return facts.some(({ key, type }) => {
    const [, call, round] = /^(.*)\/run(\d+)\.finished$/.exec(key) ?? [];
    return type === "call.unknown" && !keys.has(`${call}/lost${round}`) && !keys.has(`${call}/done`);
  });
}

/** Until nothing happens by itself any more. */
export async function settle(world: World): Promise<void> {
  for (let quiet = 0, seen = world.events.length; quiet < 5; quiet++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (world.events.length !== seen) [quiet, seen] = [0, world.events.length];
  }
}

export function observeSettled(world: World, processes: readonly Process[]): void {
  for (const session of world.sessions())
    for (const process of processes) {
      if (process.dead) continue;
      const row = process.store.session(session);
      const waiting = [...process.waiting].filter((id) => id.startsWith(`${session}/`));
      const listed = process.store.pending(session).map(({ id }) => id);
      const running = row?.open === true && waiting.length > 0;
      world.observe(process.name, { type: "settled", session, running, listed, waiting });
    }
}

/** The session without what every attempt notes of itself. */
function stateOf(world: World, session: string): string {
  const facts = world.facts(session).filter(({ type }) => type !== "state.changed");
  return hash("sha256", JSON.stringify(facts.map(({ key, type, data }) => [key, type, data])), "hex");
}
