import type { ToolInput } from "../../../src/protocol/facts/call.ts";
import type { Fact, FactData, FactType } from "../../../src/protocol/facts/fact.ts";
import type { InputRequest, NewRequest, PermissionRequest } from "../../../src/protocol/facts/request.ts";
import type { InboxEvent, SessionSummary, WatchEvent } from "../../../src/protocol/host/host.ts";
import { reason } from "../../../src/protocol/reasons/reason.ts";

/** Requests, sessions and facts as a host would tell them. */
export const now = Date.now();

export function asked(session: string, id: string, body: NewRequest, ago = 120_000): InputRequest {
  return { ...body, id, session, at: now - ago };
}

const frame = { agent: [], why: reason("said", { text: "" }), digest: "d" };

export function bashRequest(
  command: string,
  { id = "r1", session = "s1", ago = 120_000, ...more }: Partial<PermissionRequest> & { ago?: number } = {},
): PermissionRequest {
  const input: ToolInput = { command };
  return asked(
    session,
    id,
    {
      ...frame,
      ...{ kind: "permission", source: "approval", tool: "Bash", input, hard: false },
      why: reason("no-rule-command", {}),
      suggestions: [
        { type: "addRule", rule: `Bash(${command})`, behavior: "allow", destination: "session" },
        {
          type: "addRule",
          rule: `Bash(${command})`,
          behavior: "allow",
          destination: "local",
          file: ".sage/settings.local.json",
        },
      ],
      ...more,
    },
    ago,
  ) as PermissionRequest;
}

export function questionRequest({ id = "q1", session = "s2" } = {}): InputRequest {
  return asked(
    session,
    id,
    {
      ...frame,
      kind: "question",
      source: "tool",
      questions: [
        {
          question: "Which database should the service use?",
          header: "Storage",
          multiSelect: false,
          options: [
            { label: "SQLite", description: "One file, no server. Enough for a single machine." },
            { label: "Postgres", description: "A server of its own; several machines may write." },
          ],
        },
        {
          question: "Which checks should run before a merge?",
          header: "Checks",
          multiSelect: true,
          options: [
            { label: "Types", description: "" },
            { label: "Tests", description: "" },
            { label: "Lint", description: "" },
          ],
        },
      ],
    },
    3_600_000,
  );
}

export function session(id: string, title: string, more: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id,
    cwd: "/home/you/parser",
    title,
    at: now - 600_000,
    lastAt: now - 60_000,
    state: "waiting",
    pending: 1,
    ...more,
  };
}

export function snapshot(
  requests: readonly InputRequest[],
  sessions: readonly SessionSummary[],
): InboxEvent & { type: "inbox" } {
  return { type: "inbox", requests: requests.map((request) => ({ request })), more: 0, sessions: [...sessions] };
}

let seq = 0;

export function fact<T extends FactType>(session: string, key: string, type: T, data: FactData[T], at = now): Fact<T> {
  return { session, seq: ++seq, key, type, at, data };
}

export function watched(facts: readonly Fact[], requests: readonly InputRequest[] = []): WatchEvent[] {
  return [
    ...facts.map((one): WatchEvent => ({ type: "fact", fact: one })),
    { type: "ready", requests: requests.map((request) => ({ request })), live: true, owned: true },
  ];
}
