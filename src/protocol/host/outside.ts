import { lazy } from "../../base/lazy.ts";
import type { Question, RequestBody } from "../facts/request.ts";
import type { RequestTimeout } from "../facts/silence.ts";
import { splitRequestId } from "../key.ts";

/**
 * A request by a program that is not Sage's loop: another agent's hook, an MCP client. It stands in a session of its own, which no
 * loop runs, and is answered like every other. Nothing that is answered there holds anywhere else.
 */
export type OutsideAsk = {
  /** Name of the agent that asks, which every surface shows, then those of its subagents. */
  agent: readonly [string, ...string[]];
  /** The agent's own name for its conversation. Requests of one conversation share a session; without it, those of one folder do. */
  conversation?: string;
  cwd: string;
  /** Title of the session, when this request is its first. */
  title?: string;
  /** A repeated id is the same request. */
  id: string;
  body: OutsideBody;
  /** The agent's own words on why it asks. */
  why?: string;
} & RequestTimeout;

/** Kind of an asker outside, as `InputRequest` has it. */
export type OutsideAsker = "attached" | "returning";

/** Without rules to keep, consent or confines: these are Sage's, and an outsider's request has none. */
export type OutsideBody =
  | { kind: "question"; questions: Question[] }
  | ({ kind: "permission" } & Pick<
      RequestBody & { kind: "permission" },
      "tool" | "input" | "description" | "parts" | "preview"
    >)
  | { kind: "text"; prompt: string };

/** The asker's end of it. `answered`: where the agent runs, `allowed` if known. `gone`: waits no longer. `withdrawn`: in its own words. */
export type OutsideEnd =
  | { type: "answered"; allowed?: boolean }
  | { type: "gone" }
  | { type: "withdrawn"; words?: string };

const OUTSIDE = "@";

/** Sessions in which programs outside of Sage ask. No other session can have such an id. */
export function isOutsideSession(session: string): boolean {
  return session.startsWith(OUTSIDE);
}

export function isOutsideRequest({ id }: { id: string }): boolean {
  return isOutsideSession(splitRequestId(id).session);
}

/** `letters` identify the agent and its conversation. */
export function outsideSession(agent: string, letters: string): string {
  return `${OUTSIDE}${agent.replaceAll(" ", "-")}.${letters}`;
}

/** Name of the agent whose session it is. */
export function agentOfOutside(session: string): string {
  return session.slice(OUTSIDE.length, session.lastIndexOf("."));
}

/** Letters of other scripts could pass for Latin ones: a name must not look like another. */
const agentName = lazy(() => /^[A-Za-z0-9\p{Script=Han}](?:[\w .\p{Script=Han}-]{0,38}[\w\p{Script=Han}])?$/u);

/** May an agent outside be called so? Nobody outside of Sage is called Sage. */
export function isAgentName(name: string): boolean {
  return agentName().test(name) && !/^sage\b/i.test(name);
}

/** A name as close to the given one as `isAgentName` permits, or the other one. */
export function agentNameFrom(given: string, other: string): string {
  const name = given
    .normalize("NFKC")
    .replaceAll(/[^\w .\p{Script=Han}-]+/gu, "-")
    .replace(/^[^A-Za-z0-9\p{Script=Han}]+/u, "")
    .slice(0, 40)
    .replace(/[ .-]+$/, "");
  return isAgentName(name) ? name : other;
}
