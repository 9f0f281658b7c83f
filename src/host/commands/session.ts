import { randomUUID } from "node:crypto";
import { isRemote, remoteOf } from "../../config/remote-repository.ts";
import { checkOwnConversation, existingSession } from "../../journal/session/existing-session.ts";
import { isSessionId, newSessionId } from "../../journal/session/session-id.ts";
import type { SessionRow } from "../../journal/store/store.ts";
import type { SessionSummary } from "../../protocol/host/host.ts";
import { isOutsideSession } from "../../protocol/host/outside.ts";
import { modelChosenKey } from "../../protocol/key.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { given, type CommandParts, type Handlers } from "./parts.ts";

export function sessionCommands(parts: CommandParts): Handlers<"open" | "sessions" | "rename" | "fork" | "choose"> {
  const { store, version, runner, home, surroundings } = parts;
  return {
    async open({ session, cwd, model, agent }) {
      if (session !== undefined && !isSessionId(session))
        throw new SageError("input-invalid", reason("session-id-unfit", { given: session }));
      if (session !== undefined && store.session(session)) return { ok: true, session, created: false };
      const where = isRemote(cwd) ? remoteOf(cwd).name : cwd;
      if (isRemote(cwd) && !store.shared)
        throw new SageError("input-invalid", reason("remote-elsewhere", { remote: where }));
      for (;;) {
        const id = session ?? newSessionId();
        const named = { ...(model !== undefined && { model }), ...(agent !== undefined && { agent }) };
        if (await store.create(id, { cwd: where, version, ...named })) return { ok: true, session: id, created: true };
      }
    },
    sessions({ session, limit, after }) {
      const page = limit === undefined ? undefined : { limit, ...(after !== undefined && { after }) };
      const rows = session === undefined ? store.sessions(page) : [existingSession(store, session)];
      return { ok: true, sessions: rows.map((row) => summary(row, runner.of(row.id) !== undefined)) };
    },
    async rename({ session, title, by, surface }) {
      const { renameSession } = await import("../../archive/sessions.ts");
      await renameSession(store, session, title, { by, surface });
      return { ok: true };
    },
    async fork({ session, at, by, surface }) {
      const { forkSession } = await import("../../archive/sessions.ts");
      const kept = home && { output: home.output };
      return { ok: true, session: await forkSession(store, session, at, { by, surface, ...kept }) };
    },
    async choose({ session, model, checked = false, by, surface }) {
      const row = existingSession(store, session);
      checkOwnConversation(store, session);
      const named = await given(surroundings, "choose").model(row, model, { checked });
      const fact = { key: modelChosenKey(randomUUID()), type: "model.chosen", at: Date.now() } as const;
      await store.append(session, { ...fact, data: { model: named, by, surface } });
      return { ok: true };
    },
  };
}

export function summary({ open, unheard, owned, pending: waiting, ...row }: SessionRow, here: boolean): SessionSummary {
  if (isOutsideSession(row.id)) return { ...row, pending: waiting, state: waiting > 0 ? "waiting" : "idle" };
  const runs = here || owned;
  const state = !open && !unheard ? "idle" : waiting > 0 ? "waiting" : runs ? "running" : "stopped";
  return { ...row, pending: waiting, state };
}
