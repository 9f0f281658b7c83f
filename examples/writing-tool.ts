// A tool that changes something. It has no opinion about permission, so Sage asks. A crash never runs it twice.
import { hash } from "node:crypto";
import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SageAgentSDK, scripted, type Tool } from "sage-agent";
import { z } from "zod";

const file = (cwd: string) => join(cwd, "notes.txt");

const note: Tool<{ line: string }> = {
  name: "Note",
  description: "Adds a line to notes.txt.",
  inputSchema: z.object({ line: z.string().min(1) }),
  effect: "writes",
  specifier: ({ line }) => line, // what a rule such as Note(shopping:*) matches
  operand: (_, { cwd }) => file(cwd),
  async reconcile({ line }, { cwd, before }) {
    const text = await readFile(file(cwd), "utf8").catch(() => undefined);
    const now = text === undefined ? "" : hash("sha256", text);
    if (now === before) return "again"; // it did not happen
    return text?.endsWith(`${line}\n`) ? { ok: true, text: "Noted." } : undefined;
  },
  async execute({ line }, { cwd }) {
    await appendFile(file(cwd), `${line}\n`);
    return { ok: true, text: "Noted." };
  },
};

const model = scripted([{ calls: [{ tool: "Note", input: { line: "buy milk" } }] }, { text: "It is on the list." }]);
const workingDirectory = await mkdtemp(join(tmpdir(), "notes-"));

const sage = new SageAgentSDK({ model, tools: [note], workingDirectory });
const { handle, result } = sage.executeWithChannel("Remember the milk");
const request = await handle.nextRequest();
if (request?.kind === "permission") {
  console.log("asked:", request.tool, JSON.stringify(request.input));
  await handle.respond({ type: "granted", requestId: request.id });
}
console.log((await result).text);
console.log(await readFile(file(workingDirectory), "utf8"));
await sage.close();
await rm(workingDirectory, { recursive: true });
