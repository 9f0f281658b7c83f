import { oneLine } from "../../../../base/visible.ts";
import type { Tally } from "../../../../protocol/host/past.ts";
import { surfaceOf, timeOf } from "../../../../texts/shared/resolution.ts";
import { useApp } from "../state/context.ts";
import { useReply, Waiting } from "../components/loading.tsx";

/** How often people were asked, by what, how they answered and how long they took; and what the rules spared them. */
export function StatsPage() {
  const { t, web } = useApp().words.value;
  const asked = useReply({ type: "stats" });
  const { reply } = asked.value;
  if (!reply)
    return (
      <>
        <h1>{web.pages.stats}</h1>
        <Waiting asked={asked.value} />
      </>
    );
  const { stats } = reply;
  const spared = stats.rules.reduce((sum, rule) => sum + rule.spared, 0);
  const figures: [string, string][] = [
    [web.asked, stats.asked.toLocaleString("en")],
    ...(stats.open > 0 ? [[web.stillOpen, stats.open.toLocaleString("en")] satisfies [string, string]] : []),
    [web.yes, share(stats.yes, stats.asked - stats.open)],
    [web.no, share(stats.no, stats.asked - stats.open)],
    [web.median, stats.medianMs === undefined ? "–" : t.duration(stats.medianMs)],
    [web.spared, spared.toLocaleString("en")],
  ];
  return (
    <>
      <h1>{web.pages.stats}</h1>
      {stats.since !== undefined && <p class="dim">{web.since(timeOf(stats.since))}</p>}
      <dl class="figures">
        {figures.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Tallies title={web.tool} rows={stats.tools.map(({ tool, ...tally }) => [oneLine(tool), tally])} />
      <Tallies
        title={web.person}
        rows={stats.people.map(({ by, surface, ...tally }) => [`${oneLine(by)} ${surfaceOf(surface, t)}`, tally])}
      />
      {stats.rules.length > 0 && (
        <section>
          <h2 class="part">{web.pages.rules}</h2>
          <div class="scroll tally" tabIndex={0}>
            <table>
              <thead>
                <tr>
                  <th>{web.rule}</th>
                  <th class="n">{web.spared}</th>
                </tr>
              </thead>
              <tbody>
                {stats.rules.slice(0, 50).map(({ rule, spared: times }) => (
                  <tr>
                    <td>
                      <code>{oneLine(rule)}</code>
                    </td>
                    <td class="n">{times}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      )}
    </>
  );
}

function share(part: number, of: number): string {
  return of === 0 ? "–" : `${Math.round((part / of) * 100)} %`;
}

function Tallies({ title, rows }: { title: string; rows: readonly [string, Tally][] }) {
  const { t, web } = useApp().words.value;
  if (rows.length === 0) return null;
  const hasOpen = rows.some(([, { open }]) => open > 0);
  return (
    <section>
      <h2 class="part">{title}</h2>
      <div class="scroll tally" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>
                <span class="hidden">{title}</span>
              </th>
              {[
                web.asked,
                web.yes,
                web.no,
                web.unanswered,
                ...(hasOpen ? [web.stillOpen] : []),
                web.median,
                web.slowest,
              ].map((name) => (
                <th class="n">{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, { asked, yes, no, none, open, medianMs, p90Ms }]) => (
              <tr>
                <td>{name}</td>
                {[asked, yes, no, none, ...(hasOpen ? [open] : [])].map((count) => (
                  <td class="n">{count}</td>
                ))}
                {[medianMs, p90Ms].map((ms) => (
                  <td class="n">{ms === undefined ? "–" : t.duration(ms)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
