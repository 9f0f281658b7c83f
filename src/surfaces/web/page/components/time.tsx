import { useApp } from "../state/context.ts";

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
