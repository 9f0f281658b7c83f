import { useSignal } from "@preact/signals";
import { oneLine, visible } from "../../../../base/visible.ts";
import type { RuleInForce } from "../../../../protocol/host/about.ts";
import { titleOf } from "../../../../view/items/summary.ts";
import { useApp } from "../state/context.ts";
import { useReply, Waiting } from "../components/loading.tsx";

const order = ["deny", "ask", "allow"] as const;

/** The rules that count for a session, by the file they stand in. They are changed where they stand, or with an answer. */
export function RulesPage() {
  const app = useApp();
  const { web } = app.words.value;
  const sessions = [...app.inbox.value.sessions.values()].toSorted((a, b) => b.lastAt - a.lastAt);
  const chosen = useSignal("");
  const session = chosen.value || sessions[0]?.id;
  return (
    <>
      <h1>{web.pages.rules}</h1>
      {sessions.length > 1 && (
        <label class="picker">
          <span>{web.rulesFor}</span>
          <select value={session ?? ""} onChange={(event) => (chosen.value = event.currentTarget.value)}>
            {sessions.slice(0, 50).map((session) => (
              <option value={session.id}>{oneLine(titleOf(session)).slice(0, 60) || session.id}</option>
            ))}
          </select>
        </label>
      )}
      {session === undefined ? <p class="empty">{web.noRules}</p> : <Rules key={session} session={session} />}
    </>
  );
}

function Rules({ session }: { session: string }) {
  const { web } = useApp().words.value;
  const asked = useReply({ type: "about", session });
  const { reply } = asked.value;
  if (!reply) return <Waiting asked={asked.value} />;
  const rules = reply.session?.rules ?? [];
  const places = Map.groupBy(rules, ({ source, file }) => JSON.stringify([source, file ?? ""]));
  return (
    <>
      {rules.length === 0 && <p class="empty">{web.noRules}</p>}
      {[...places.values()].map((some) => (
        <Place rules={some} />
      ))}
    </>
  );
}

function Place({ rules }: { rules: readonly RuleInForce[] }) {
  const { web } = useApp().words.value;
  const [first] = rules;
  if (!first) return null;
  return (
    <section>
      <h2 class="part">
        {web.rulesWhere[first.source]} {first.file !== undefined && <small>{oneLine(first.file)}</small>}
      </h2>
      <ul class="rules">
        {rules
          .toSorted((a, b) => order.indexOf(a.behavior) - order.indexOf(b.behavior))
          .map(({ rule, behavior }) => (
            <li>
              <code>{visible(rule)}</code>
              <small class={behavior}>{web.behavior[behavior]}</small>
            </li>
          ))}
      </ul>
    </section>
  );
}
