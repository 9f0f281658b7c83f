import { oneLine } from "../../../../base/visible.ts";
import type { RulePreview } from "../../../../protocol/host/past.ts";
import { summaryOf } from "../../../../view/items/summary.ts";
import { useApp } from "../state/context.ts";

/** Rules held against the past: how much it would have allowed, and what of that a person had refused. */
export function Past({
  preview: { trials: [trial], opens } = { trials: [], opens: [] },
}: {
  preview: RulePreview | undefined;
}) {
  const { t, web } = useApp().words.value;
  if (!trial || trial.calls === 0) return null;
  const { calls, changed, against, surprising } = trial;
  return (
    <span class={`past${against > 0 ? " against" : ""}`}>
      {web.past(calls, changed, against)} {opens.length > 0 && t.opensToo(opens.length)}
      {against > 0 &&
        surprising
          .filter(({ asked }) => asked?.answer === "no")
          .slice(0, 3)
          .map(({ input }) => <code>{oneLine(summaryOf(input)).slice(0, 100)}</code>)}
    </span>
  );
}
