import type { InputRequest } from "../../protocol/index.ts";

/** A shorter wait needs no reminder: people have just been called. */
const SHORTEST_MS = 2 * 60_000;
const LATEST_MS = 15 * 60_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Something that is due while a request waits: those who were asked are reminded, or somebody else is called. */
export type Appointment = { at: number } & ({ what: "remind" } | { what: "escalate"; to: string });

export type Appointments = {
  /** Again and again for the same request is the same as once. */
  plan(request: InputRequest): void;
  drop(requestId: string): void;
  stop(): void;
};

export function createAppointments(
  now: () => number,
  keep: (request: InputRequest, appointment: Appointment) => void,
): Appointments {
  const timers = new Map<string, NodeJS.Timeout[]>();
  return {
    plan(request) {
      if (timers.has(request.id)) return;
      const planned = appointmentsOf(request).map((appointment) => {
        const wait = Math.min(Math.max(0, appointment.at - now()), LONGEST_TIMER_MS);
        return setTimeout(() => keep(request, appointment), wait).unref();
      });
      if (planned.length > 0) timers.set(request.id, planned);
    },
    drop(requestId) {
      for (const timer of timers.get(requestId) ?? []) clearTimeout(timer);
      timers.delete(requestId);
    },
    stop() {
      for (const timer of [...timers.values()].flat()) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** The reminder comes in the last quarter of the wait, at most fifteen minutes before its end. */
export function appointmentsOf({ deadline }: InputRequest): Appointment[] {
  if (!deadline) return [];
  const { at, timeoutMs, escalation = [] } = deadline;
  return [
    ...escalation.map((one): Appointment => ({ ...one, what: "escalate" })),
    ...(timeoutMs < SHORTEST_MS ? [] : [{ at: at - Math.min(timeoutMs / 4, LATEST_MS), what: "remind" as const }]),
  ];
}
