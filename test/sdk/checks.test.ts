// `checkPermissions` of an embedder's tool may be a promise. Whatever goes wrong with it, it never allows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { SageAgentSDK, scripted, type Tool } from "../../src/sdk/index.ts";
import { type PermissionContext, type PermissionOpinion } from "../../src/sdk/entries/tools.ts";
import { z } from "zod";
import { workspace } from "../support/sage.ts";

type Check = (input: { to: string }, context: PermissionContext) => PermissionOpinion | Promise<PermissionOpinion>;

/** A tool that asks a server of its own; `ran` keeps what it did. */
function mailing(checkPermissions: Check): { mail: Tool<{ to: string }>; ran: string[] } {
  const ran: string[] = [];
  const mail: Tool<{ to: string }> = {
    name: "Mail",
    description: "Sends a mail.",
    inputSchema: z.object({ to: z.string() }),
    effect: "writes",
    checkPermissions,
    specifier: ({ to }) => to,
    async execute({ to }) {
      ran.push(to);
      return { ok: true, text: "sent" };
    },
  };
  return { mail, ran };
}

const later = async <T>(value: T) => {
  await new Promise((done) => setTimeout(done, 5));
  return value;
};
const send = (...people: string[]) => ({ calls: people.map((to) => ({ tool: "Mail", input: { to } })) });
const allowing = { mode: { type: "nonInteractive", autoResponse: "alwaysAllow" } } as const;

const Foreign = runInNewContext("Promise") as PromiseConstructor;

test("an opinion that is promised in another way than by this program's Promise is waited for, too", async () => {
  using here = workspace();
  const { mail, ran } = mailing(() => Foreign.resolve({ behavior: "deny", reason: "too many" }));
  const model = scripted([send("Ada"), { text: "done" }]);
  const sage = new SageAgentSDK({ model, tools: [mail], workingDirectory: here.dir });
  const { toolHistory } = await sage.run("go", allowing);
  assert.deepEqual(ran, []);
  assert.match(toolHistory[0]?.result.text ?? "", /too many/);
  await sage.close();
});

test("a promised opinion is waited for: it allows, refuses or asks", async () => {
  using here = workspace();
  const { mail, ran } = mailing(({ to }) => {
    if (to === "Ada") return later({ behavior: "allow", reason: "a colleague" });
    return later(to === "all" ? { behavior: "deny", reason: "too many" } : { behavior: "ask", reason: "a stranger" });
  });
  const model = scripted([send("Ada", "all", "林"), { text: "done" }]);
  const sage = new SageAgentSDK({ model, tools: [mail], workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("go");
  const request = await handle.nextRequest();
  assert.ok(request?.kind === "permission");
  assert.deepEqual(
    [request.input, request.why, request.hard],
    [{ to: "林" }, { code: "said", args: { text: "a stranger" } }, false],
  );
  await handle.respond({ type: "granted", requestId: request.id });
  const { toolHistory } = await result;
  assert.deepEqual(ran, ["Ada", "林"]);
  assert.match(toolHistory[1]?.result.text ?? "", /too many/);
  await sage.close();
});

for (const [how, check] of Object.entries<Check>({
  rejects: () => Promise.reject(new Error("the server is away")),
  "comes to nothing": () => Promise.resolve(undefined as unknown as PermissionOpinion),
  "is no opinion": () => Promise.resolve({ behavior: "sure", reason: "" } as unknown as PermissionOpinion),
  throws: () => {
    throw new Error("the server is away");
  },
}))
  test(`a check that ${how} allows nothing: only a person may, whatever the rules and the mode say`, async () => {
    using here = workspace();
    const { mail, ran } = mailing(check);
    const options = { tools: [mail], workingDirectory: here.dir, rules: { allow: ["Mail"] } };
    const model = scripted([send("Ada"), { text: "done" }]);
    const alone = new SageAgentSDK({ ...options, model, permissionMode: "bypass" });
    assert.equal((await alone.run("go", allowing)).toolHistory[0]?.result.ok, false);
    assert.deepEqual(ran, []);
    await alone.close();
    const sage = new SageAgentSDK({ ...options, model });
    const { handle, result } = sage.executeWithChannel("go");
    const request = await handle.nextRequest();
    assert.ok(request?.kind === "permission" && request.hard);
    assert.deepEqual(request.suggestions, []);
    await handle.respond({ type: "granted", requestId: request.id });
    await result;
    assert.deepEqual(ran, ["Ada"]);
    await sage.close();
  });

test("a check that never ends ends with the turn: cancelled, or out of time", async () => {
  using here = workspace();
  const asked = Promise.withResolvers<AbortSignal>();
  const { mail, ran } = mailing((_, { signal }) => {
    asked.resolve(signal);
    return new Promise(() => {});
  });
  const model = scripted([send("Ada"), { text: "never" }]);
  const sage = new SageAgentSDK({ model, tools: [mail], workingDirectory: here.dir });
  const stopping = new AbortController();
  const run = sage.run("go", { ...allowing, signal: stopping.signal });
  const signal = await asked.promise;
  stopping.abort();
  assert.equal((await run).status, "cancelled");
  assert.equal(signal.aborted, true);
  const late = await sage.run("go", { ...allowing, executionTimeout: 50 });
  assert.equal(late.status === "error" && late.error.code, "timeout");
  assert.deepEqual(ran, []);
  await sage.close();
});

test("a rule is offered where the promised opinion leaves it to rules, and answers the twins that wait", async () => {
  using here = workspace();
  let checks = 0;
  const { mail, ran } = mailing(() => {
    checks++;
    return later({ behavior: "passthrough", reason: "" });
  });
  const model = scripted([send("Ada", "Ada"), { text: "done" }]);
  const sage = new SageAgentSDK({ model, tools: [mail], workingDirectory: here.dir });
  const { handle, result } = sage.executeWithChannel("go");
  const request = await handle.nextRequest();
  assert.ok(request?.kind === "permission");
  assert.deepEqual(
    request.suggestions.map(({ rule }) => rule),
    ["Mail(Ada)"],
  );
  await handle.respond({
    type: "granted",
    requestId: request.id,
    rules: [{ rule: "Mail(Ada)", behavior: "allow", destination: "session" }],
  });
  const outcome = await result;
  assert.deepEqual([outcome.status, ran], ["success", ["Ada", "Ada"]]);
  assert.ok(checks >= 2);
  await sage.close();
});
