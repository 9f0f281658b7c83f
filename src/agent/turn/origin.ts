import { lazy } from "../../base/lazy.ts";
import { whereabouts } from "../../context/environment.ts";
import type { SessionLog } from "../../journal/session/session.ts";
import type { RequestOrigin } from "../../protocol/facts/request.ts";

/** Enough to know a task by; the whole message is in the session. */
const MAX_TASK_LENGTH = 120;
const MAX_READ_LENGTH = 4_000;

type Turn = {
  cwd: string;
  home: string;
  /** Messages up to this seq are older. */ after: number;
  redact(text: string): string;
};

/** Tells where a request of this turn is opened, and for which task. */
export function originIn(log: SessionLog, { cwd, home, after, redact }: Turn): () => RequestOrigin {
  const task = lazy(() => {
    const { store, said, id } = log;
    const place = store.shared && store.session(id)?.place?.name;
    const spoken = said.filter(({ data }) => data.surface !== "update");
    const began = spoken.find(({ seq }) => seq > after) ?? spoken.at(-1);
    return {
      ...(place && { place }),
      // Redacted before it is cut: half of a secret looks like none.
      ...(began && {
        by: began.data.name ?? began.data.by,
        task: beginningOf(redact(began.data.text.slice(0, MAX_READ_LENGTH))),
      }),
    };
  });
  const place = lazy(() => whereabouts(cwd, home));
  return () => ({ ...place()(), ...task() });
}

function beginningOf(text: string): string {
  const signs = [...text.replace(/\s+/g, " ").trim()];
  if (signs.length <= MAX_TASK_LENGTH) return signs.join("");
  return `${signs
    .slice(0, MAX_TASK_LENGTH - 1)
    .join("")
    .replace(/[!-~]+$/, "")
    .trimEnd()}…`;
}
