import { Stopped, type SessionLog } from "../../journal/session/session.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import type { InputRequest, InquiryReplied } from "../../protocol/facts/request.ts";
import { repliedKey, withoutEnd } from "../../protocol/key.ts";
import { reason } from "../../protocol/reasons/reason.ts";
import type { ExecutionContext, Inquiries, Models, Tree } from "../state/context.ts";
import { spend } from "../state/spend.ts";

/** Inquiries that one request takes: a chat of many people must not spend without end. */
const MAX_INQUIRIES = 20;

type Made = Fact<"inquiry.made">;

/** An open request. Inquiries about it are answered from this agent's conversation. */
type Following = {
  context: ExecutionContext;
  request: InputRequest;
  /** Aborts when the request has ended; made for the first who asks, because an abort costs as much as a tenth of an approval. */
  over: AbortController | undefined;
  /** Replies are given one after the other: each knows those before it. */
  last: Promise<unknown> | undefined;
};

/** Replies to the inquiries of one turn. It costs nothing before somebody asks. */
export function createInquiries(log: SessionLog): Inquiries {
  const { mailbox } = log;
  const open = new Map<string, Following>();
  /** Replies whose cost is in the sum of the turn. */
  const counted = new Set<string>();

  const made = (requestId: string): Made[] =>
    mailbox.inquiries.filter((fact): fact is Made => fact.type === "inquiry.made" && fact.data.requestId === requestId);
  const replies = (requestId: string): Map<string, InquiryReplied> =>
    new Map(
      mailbox.inquiries.flatMap((fact) =>
        fact.type === "inquiry.replied" && fact.data.requestId === requestId ? [[withoutEnd(fact.key), fact.data]] : [],
      ),
    );

  const reply = async ({ context, request }: Following, inquiry: Made, over: AbortSignal): Promise<void> => {
    if (over.aborted) return;
    const root = log.branch("");
    const said = await root.step(repliedKey(inquiry.key), "inquiry.replied", async (scope) => {
      const asked = made(request.id);
      const nth = asked.findIndex(({ key }) => key === inquiry.key);
      const known = replies(request.id);
      const earlier = asked.slice(0, nth).map(({ data, key }) => ({ made: data, replied: known.get(key) }));
      const { converse, withoutReply } = await import("./converse.ts"); // most turns are asked nothing
      if (nth >= MAX_INQUIRIES)
        return withoutReply(context, inquiry.data, reason("inquiry-limit", { limit: MAX_INQUIRIES }));
      const signal = AbortSignal.any([scope.signal, over]);
      return converse(context, { request, inquiry: inquiry.data, earlier }, { scope, signal });
    });
    count(context, inquiry.key, said);
    withdraw(request, said);
    const written = log.flush();
    if (written) await written;
  };

  /** A reply of an attempt before this one counts as well. */
  const count = (context: Models & Tree, key: string, said: InquiryReplied): void => {
    if (counted.has(key)) return;
    counted.add(key);
    spend(context, said);
  };

  /** A person's answer that came first wins. Nothing else in the reply affects the request. */
  const withdraw = ({ id }: InputRequest, { withdraws: why }: InquiryReplied): void => {
    if (why === undefined || log.store.resolution(id)) return;
    const frame = { requestId: id, by: "agent", surface: "inquiry", at: Date.now() };
    log.branch("").resolve({ ...frame, outcome: "superseded", reason: reason("withdrawn-by-agent", { why }) });
  };

  const begin = (following: Following, inquiry: Made): void => {
    const { signal } = (following.over ??= new AbortController());
    const before = following.last ?? Promise.resolve();
    // The request has ended, or the attempt has: an inquiry without a reply is taken up by the next one.
    const quiet = (error: unknown) => {
      if (!(error instanceof Stopped) && !signal.aborted && !log.stopped) throw error;
    };
    following.last = before.then(() => reply(following, inquiry, signal)).catch(quiet);
    following.last.catch((error: unknown) => log.stop(error)); // the journal fails: the loop meets the same error
  };

  mailbox.onInquiry((fact) => {
    const following = fact.type === "inquiry.made" ? open.get(fact.data.requestId) : undefined;
    if (following && fact.type === "inquiry.made") begin(following, fact);
  });

  return {
    follow(context, request) {
      if (open.has(request.id)) return;
      const following: Following = { context, request, over: undefined, last: undefined };
      open.set(request.id, following);
      if (mailbox.inquiries.length === 0) return;
      const known = replies(request.id);
      for (const inquiry of made(request.id)) {
        const said = known.get(inquiry.key);
        if (!said) begin(following, inquiry);
        else {
          count(context, inquiry.key, said);
          withdraw(request, said); // killed between the reply and the end of the request
        }
      }
    },
    settled: (requestId) => open.get(requestId)?.last,
    end(context, requestId) {
      open.get(requestId)?.over?.abort();
      open.delete(requestId);
      if (mailbox.inquiries.length === 0) return undefined;
      const known = replies(requestId);
      for (const [key, said] of known) count(context, key, said);
      const lines = made(requestId).map(({ key, data }) => told(data, known.get(key)));
      return lines.length === 0 ? undefined : ["Before it was decided, people asked about it:", ...lines].join("\n");
    },
  };
}

/** Quoted, so that no message can pose as another line of the result. */
function told({ by, text }: Made["data"], said: InquiryReplied | undefined): string {
  const question = `- ${by} asked: ${JSON.stringify(text)}`;
  if (!said || said.problem) return `${question} This was not replied to.`;
  return `${question} You replied: ${JSON.stringify(said.text)}`;
}
