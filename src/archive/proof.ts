import { createHmac, createPrivateKey, createPublicKey, hash, type KeyObject, sign } from "node:crypto";
import type { Redaction } from "../config/secrets/redact.ts";
import type { Fact, FactType } from "../protocol/facts/fact.ts";
import type { Integrity } from "../protocol/host/receipt.ts";

/** Decisions and what they were about. Of every other fact the digest stands there alone. */
const told: ReadonlySet<FactType> = new Set<FactType>([
  "session.opened",
  "user.said",
  "calls.judged",
  "input.requested",
  "input.approved",
  "input.resolved",
  "rule.added",
  "rule.removed",
  "mode.chosen",
  "call.started",
  "call.unknown",
  "turn.ended",
]);

/** Version of the format that `docs/receipts.md` describes. */
const FORMAT = 1;

type Signed = { key: string; redaction: Redaction; record: Integrity["state"]; at: number };

/**
 * A session's record as a file that others can check without Sage: a signed head, then a line for each fact. The chain runs over digests,
 * so that a body which was redacted or left out breaks nothing. A digest is salted, and the salt stands only beside a body that is
 * whole: nobody can guess their way to a secret from its digest.
 */
export function* signedReceipts(facts: readonly Fact[], { key, redaction, record, at }: Signed): Generator<string> {
  const session = facts[0]?.session ?? "";
  let head = hash("sha256", session, "base64url");
  const lines = facts.map((fact) => {
    const body = JSON.stringify(fact.data);
    const salt = createHmac("sha256", key).update(`${session}\n${fact.key}`).digest("base64url");
    const digest = hash("sha256", `${salt}\n${body}`, "base64url");
    const seen = shown(fact, { body, salt, redaction });
    const redacted = "redacted" in seen ? hash("sha256", JSON.stringify(seen.redacted), "base64url") : "";
    head = hash("sha256", [head, fact.key, fact.type, fact.at, digest, redacted].join("\n"), "base64url");
    return `${JSON.stringify({ key: fact.key, type: fact.type, at: fact.at, digest, ...seen })}\n`;
  });
  const publicKey = publicPart(key);
  const statement = { receipts: FORMAT, session, facts: facts.length, head, record, at, publicKey };
  const signature = sign(null, Buffer.from(JSON.stringify(statement)), privateKey(key)).toString("base64url");
  yield `${JSON.stringify({ ...statement, signature })}\n`;
  yield* lines;
}

/** The public part of a key, as others keep it. */
export function publicPart(key: string): string {
  return createPublicKey(privateKey(key)).export({ format: "jwk" }).x ?? "";
}

function privateKey(key: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(key, "base64url"), format: "der", type: "pkcs8" });
}

/** The body as others may see it; with its salt, if that is all of it. */
function shown({ type, data }: Fact, { body, salt, redaction }: { body: string; salt: string; redaction: Redaction }) {
  if (!told.has(type)) return {};
  const clean = redaction.value(data);
  return JSON.stringify(clean) === body ? { salt, data: clean } : { redacted: clean };
}
