import { hash } from "node:crypto";
import type { Described } from "./definition.ts";
import type { ServerDefinition } from "./server.ts";

export type KnownPrompt = { name: string; description: string; arguments: { name: string; required: boolean }[] };
type KnownTool = Described & { name: string };
/** A server as it described itself when it was last connected: enough to offer its tools before it runs. */
export type Known = { tools: KnownTool[]; prompts: KnownPrompt[] };

/** The file with the memory: text in, text out, never two writers at once. */
type MemoryFile = { read(): string; change(edit: (text: string) => string): void };

type Kept = { servers?: Record<string, Known>; approved?: Record<string, Record<string, Described>> };

/** Knowledge of servers that outlives a run: their last lists, and the definitions that grants were given for. */
export type ServerMemory = {
  known(server: ServerDefinition): Known | undefined;
  keep(server: ServerDefinition, known: Known): void;
  /** The definition that the person's grants hold for. */
  approved(server: ServerDefinition, tool: string): Described | undefined;
  approve(server: ServerDefinition, tool: string, described: Described): void;
};

export function createServerMemory(file: MemoryFile): ServerMemory {
  let kept: Kept | undefined;
  const now = () => (kept ??= parse(file.read()));
  const change = (edit: (before: Kept) => Kept) =>
    file.change((text) => {
      kept = edit(parse(text));
      return `${JSON.stringify(kept)}\n`;
    });
  return {
    known: (server) => own(now().servers, identity(server)),
    keep(server, known) {
      const id = identity(server);
      if (JSON.stringify(own(now().servers, id)) === JSON.stringify(known)) return;
      // A cache that cannot be written is skipped; the server works without it.
      try {
        change((before) => ({ ...before, servers: { ...others(before.servers, place(server)), [id]: known } }));
      } catch {}
    },
    approved: (server, tool) => own(own(now().approved, place(server)), tool),
    approve(server, tool, { description, inputSchema }) {
      const at = place(server);
      change((before) => {
        const all = before.approved ?? {};
        return { ...before, approved: { ...all, [at]: { ...own(all, at), [tool]: { description, inputSchema } } } };
      });
    },
  };
}

/** Grants are given to a name, so they are kept by it; a folder's server is another one than the person's own of that name. */
function place({ name, source, file }: ServerDefinition): string {
  return source === "user" ? name : `${name} in ${file}`;
}

/** Another command or address is another server, whatever its name. */
function identity(server: ServerDefinition): string {
  const { transport } = server;
  const said = transport.type === "stdio" ? [transport.command, ...transport.args] : [transport.url];
  return `${place(server)} ${hash("sha256", JSON.stringify(said), "base64url").slice(0, 16)}`;
}

/** Without what the server of this place was before: another version, another command. */
function others(servers: Record<string, Known> | undefined, at: string): Record<string, Known> {
  return Object.fromEntries(Object.entries(servers ?? {}).filter(([id]) => id.slice(0, id.lastIndexOf(" ")) !== at));
}

/** A name may be called "constructor". */
function own<T>(record: Record<string, T> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** A memory that cannot be read is no memory: tools are learned again, and a grant holds for the definition that is met first. */
function parse(text: string): Kept {
  try {
    const kept: unknown = JSON.parse(text);
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}
