import { endLine } from "../../../../view/request/delivery.ts";
import { useSignal } from "@preact/signals";
import { harmless, oneLine } from "../../../../base/visible.ts";
import type { SessionSummary } from "../../../../protocol/host/host.ts";
import type { Receipt } from "../../../../protocol/host/receipt.ts";
import { timeOf, whoOf } from "../../../../texts/shared/resolution.ts";
import { nameOf, summaryOf, titleOf } from "../../../../view/items/summary.ts";
import { useApp } from "../state/context.ts";
import { useReply, Waiting } from "../components/loading.tsx";
import { fragmentFor } from "../state/place.ts";
import { Form } from "../components/form.tsx";

const PAGE = 50;

/** Receipts, the newest first: who allowed what, when, and what became of it. */
export function ReceiptsPage() {
  const app = useApp();
  const { web } = app.words.value;
  const of = useSignal("");
  const typed = useSignal("");
  const before = useSignal<number | undefined>(undefined);
  const asked = useReply(
    {
      type: "receipts",
      limit: PAGE,
      ...(of.value !== "" && { of: of.value }),
      ...(of.value === "" && before.value !== undefined && { before: before.value }),
    },
    [of.value, before.value],
  );
  const { reply } = asked.value;
  const sessions = new Map(reply?.sessions.map((session) => [session.id, session]));
  const days = Map.groupBy(
    (reply?.receipts ?? []).toSorted((a, b) => b.at - a.at),
    ({ at }) =>
      new Date(at).toLocaleDateString(app.words.value.lang === "zh" ? "zh-CN" : "en-GB", {
        weekday: "long",
        day: "numeric",
        month: "long",
        year: "numeric",
      }),
  );
  const oldest = reply?.receipts.reduce((least, { at }) => Math.min(least, at), Infinity);
  return (
    <>
      <h1>{web.pages.receipts}</h1>
      <Form
        role="search"
        submit={() => {
          of.value = typed.value.trim();
        }}
      >
        <input
          type="search"
          aria-label={web.receiptsOf}
          placeholder={web.receiptsOf}
          value={typed.value}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
            if (typed.value === "") of.value = "";
          }}
        />
      </Form>
      {!reply || asked.value.trouble !== "" ? (
        <Waiting asked={asked.value} />
      ) : (
        <>
          {reply.receipts.length === 0 && <p class="empty">{of.value === "" ? web.none : web.noneFound}</p>}
          {[...days].map(([day, receipts]) => (
            <section>
              <h2 class="part">{day}</h2>
              <ul class="receipts">
                {receipts.map((receipt) => (
                  <li key={receipt.id}>
                    <Row receipt={receipt} session={sessions.get(receipt.session)} />
                  </li>
                ))}
              </ul>
            </section>
          ))}
          {reply.more && oldest !== undefined && (
            <button type="button" class="quiet" onClick={() => (before.value = oldest)}>
              {web.older}
            </button>
          )}
        </>
      )}
    </>
  );
}

function Row({ receipt, session }: { receipt: Receipt; session: SessionSummary | undefined }) {
  const app = useApp();
  const { t, web } = app.words.value;
  const { at, tool, input, decision, rule, asked, standing, digest, files, reason, agent } = receipt;
  const end = asked.findLast(({ resolution }) => resolution)?.resolution;
  const question = asked.find(({ request }) => request.kind === "question")?.request;
  const who = end ? whoOf(end, t, app.me.value) : rule ? web.byRule : "";
  const isTold = standing === "refused-by-person" && end !== undefined; // by the verdict
  return (
    <details class={decision}>
      <summary>
        <time>{new Date(at).toTimeString().slice(0, 5)}</time>
        <span class={`verdict ${decision}`}>{web.verdict(web.receipt[decision], who)}</span>
        <code>{oneLine(question ? nameOf(question, t) : `${tool} ${summaryOf(input)}`).slice(0, 160)}</code>
        {standing && standing !== "done" && !isTold && <small>{t.standing[standing]}</small>}
      </summary>
      <dl>
        <dt>{web.session}</dt>
        <dd>
          <a href={fragmentFor({ page: "session", id: receipt.session })}>
            {oneLine(titleOf({ title: session?.title ?? "" })) || receipt.session}
          </a>
        </dd>
        {agent.length > 0 && (
          <>
            <dt>{web.agent}</dt>
            <dd>{agent.map(oneLine).join(" › ")}</dd>
          </>
        )}
        <dt>{web.reason}</dt>
        <dd>{oneLine(t.because(reason))}</dd>
        {asked.map((each) => (
          <>
            <dt>{t.title[each.request.kind]}</dt>
            <dd>{endLine(each, t, app.me.value) ?? web.receipt.open}</dd>
          </>
        ))}
        {rule && (
          <>
            <dt>{web.rule}</dt>
            <dd>
              <code>{oneLine(rule.text)}</code>{" "}
              <small>{rule.from === undefined ? web.rulesWhere[rule.source] : oneLine(rule.from)}</small>
            </dd>
          </>
        )}
        {files.length > 0 && (
          <>
            <dt>{web.file}</dt>
            <dd>{files.map(oneLine).join(", ")}</dd>
          </>
        )}
        {digest !== "" && (
          <>
            <dt>{web.digest}</dt>
            <dd>
              <code>{digest.slice(0, 16)}</code>
            </dd>
          </>
        )}
      </dl>
      <pre tabIndex={0}>{harmless(inputText(input)).slice(0, 4_000)}</pre>
      <p class="dim">{timeOf(at)}</p>
    </details>
  );
}

function inputText(input: Record<string, unknown>): string {
  return typeof input["command"] === "string" ? input["command"] : JSON.stringify(input, undefined, 2);
}
