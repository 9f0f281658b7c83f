import { sessionOutside } from "../../../input/outside.ts";
import type { AskParts } from "./ask-person.ts";
import { asResult, told, type Result } from "./result.ts";

const MAX_SHOWN = 50;

/** Requests of this agent in this folder, the newest first: an agent sees nothing of others, nor of Sage's own sessions. */
export function asked({ store, agent, cwd }: AskParts): Result {
  const session = sessionOutside({ agent: [agent()], cwd });
  const facts = store.session(session) ? store.load(session) : [];
  const requests = facts.flatMap((fact) => (fact.type === "input.requested" ? [fact.data] : []));
  const shown = requests.toReversed().slice(0, MAX_SHOWN);
  return asResult({ requests: shown.map((request) => told(request, store.resolution(request.id))) });
}
