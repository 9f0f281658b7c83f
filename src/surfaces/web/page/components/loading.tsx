import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Command, CommandReply } from "../../../../protocol/host/host.ts";
import { useApp } from "../state/context.ts";
import type { Unsigned } from "../state/input.ts";
import { Trouble } from "./form.tsx";

type Asked<T extends Command["type"]> = {
  reply: Extract<CommandReply<T>, { ok: true }> | undefined;
  trouble: string;
};

/** Asks the host for something to show, and again when `again` changes. */
export function useReply<C extends Unsigned>(command: C, again: readonly unknown[] = []): Signal<Asked<C["type"]>> {
  const app = useApp();
  const asked = useSignal<Asked<C["type"]>>({ reply: undefined, trouble: "" });
  useEffect(() => {
    let gone = false;
    void app.send(command).then((reply) => {
      if (gone) return;
      asked.value = reply.ok ? { reply, trouble: "" } : { ...asked.value, trouble: app.trouble(reply) ?? "" };
    });
    return () => void (gone = true);
  }, again);
  return asked;
}

/** Instead of what is not there yet, or cannot be had. */
export function Waiting({ asked }: { asked: Asked<Command["type"]> }) {
  const { web } = useApp().words.value;
  if (asked.trouble !== "") return <Trouble text={asked.trouble} />;
  return <p class="empty">{web.loading}</p>;
}

/** How long ago something was. It alone is drawn again as time goes by. */
export function Ago({ at }: { at: number }) {
  const app = useApp();
  const { t, web } = app.words.value;
  const ms = app.clock.value - at;
  return <time dateTime={new Date(at).toISOString()}>{ms < 5_000 ? web.now : web.ago(t.age(ms))}</time>;
}

/** Shows the time since something began. */
export function Since({ at }: { at: number }) {
  const app = useApp();
  return <span>{app.words.value.t.duration(Math.max(1_000, app.clock.value - at))}</span>;
}
