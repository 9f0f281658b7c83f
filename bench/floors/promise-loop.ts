/** Cost of asking when nothing is kept: a loop, a promise per request, a person who says yes at once. */
export async function promiseLoop(approvals: number): Promise<number[]> {
  const desk = createDesk();
  const finished = loop(approvals, desk.ask).then(desk.close);
  const micros: number[] = [];
  let grant = await desk.next();
  while (grant !== undefined) {
    const before = performance.now();
    const next = desk.next();
    grant();
    grant = await next;
    micros.push((performance.now() - before) * 1000);
  }
  await finished;
  return micros;
}

type Message = { role: "user" | "assistant" | "tool"; text: string; call?: string };

type Grant = () => void;

async function loop(approvals: number, ask: (call: string) => Promise<void>): Promise<string> {
  const messages: Message[] = [{ role: "user", text: "go" }];
  for (;;) {
    const reply = await model(messages, approvals);
    messages.push(reply);
    if (reply.call === undefined) return reply.text;
    await ask(reply.call);
    messages.push({ role: "tool", text: await tool() });
  }
}

async function model(messages: readonly Message[], approvals: number): Promise<Message> {
  const step = (messages.length - 1) / 2;
  if (step >= approvals) return { role: "assistant", text: "done" };
  return { role: "assistant", text: "", call: `true ${step}` };
}

async function tool(): Promise<string> {
  return "the command ended with exit code 0";
}

function createDesk() {
  let show: (grant: Grant | undefined) => void = () => {};
  return {
    ask: (_call: string) => new Promise<void>((granted) => show(granted)),
    next: () => new Promise<Grant | undefined>((shown) => (show = shown)),
    close: () => show(undefined),
  };
}
