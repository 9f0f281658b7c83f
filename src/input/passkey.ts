import { createHash, createPublicKey, verify } from "node:crypto";
import { canonicalJson } from "../base/canonical-json.ts";
import type { InputResponse } from "../protocol/facts/answer.ts";
import { isSigned, needsConsent, takesSignature } from "../protocol/facts/consent.ts";
import type { InputRequest, Resolution } from "../protocol/facts/request.ts";
import type { Assertion, Signing } from "../protocol/sender.ts";

/** Of each field, in base64url: an authenticator sends a few hundred characters. */
const MAX_FIELD_LENGTH = 4096;
/** User present and user verified. */
const PERSON = 0x01 | 0x04;
const HAS_CREDENTIAL = 0x40;
/** Hash of the site, flags and counter; model of the authenticator and length of the id follow where a passkey is made. */
const HEAD_BYTES = 37;
const ID_AT = 55;
/** Authenticators must encode an ES256 key exactly so: a map of kty, alg and crv, then x and y of 32 bytes. */
const ES256 = Buffer.from("a5010203262001215820", "hex");
const Y_LABEL = Buffer.from("225820", "hex");

/** The words of a browser and of its authenticator, of a passkey that was made. */
export type Attested = { client: string; authenticator: string };
type Attestation = { credential: string; publicKey: string; counter: number };
type Expected = { challenge: string; origin: string };

/** The text that a passkey signs for this answer to this request as it is: for another answer, or another request, it is another text. */
export function challengeOf({ id, digest }: InputRequest, response: InputResponse, nonce: string): string {
  return sha256(canonicalJson([id, digest, response, nonce])).toString("base64url");
}

/** Browsers make passkeys for https and for localhost alone; the site is the name of the host. */
export function siteOf(origin: string | undefined): string | undefined {
  const url = origin === undefined ? null : URL.parse(origin);
  return url && (url.protocol === "https:" || url.hostname === "localhost") ? url.hostname : undefined;
}

/** The counter of the authenticator, where a person was verified and the passkey of this key signed exactly this; otherwise undefined. */
export function verifyAssertion(
  { client, authenticator, signature }: Assertion,
  { publicKey, ...expected }: Expected & { publicKey: string },
): number | undefined {
  const [told, data, sign, point] = [client, authenticator, signature, publicKey].map(decoded);
  if (!told || !data || !sign || !point || !isTold(told, "webauthn.get", expected) || !isHead(data, expected, PERSON))
    return undefined;
  try {
    const key = { key: publicKeyFrom(point), dsaEncoding: "der" } as const;
    return verify("sha256", Buffer.concat([data, sha256(told)]), key, sign) ? data.readUInt32BE(33) : undefined;
  } catch {
    return undefined; // not a key, not a signature
  }
}

/** The passkey that was made for this challenge with a person verified. Of the authenticator's maker nothing is asked. */
export function verifyAttestation({ client, authenticator }: Attested, expected: Expected): Attestation | undefined {
  const [told, data] = [client, authenticator].map(decoded);
  if (!told || !data || !isTold(told, "webauthn.create", expected) || !isHead(data, expected, PERSON | HAS_CREDENTIAL))
    return undefined;
  if (data.length < ID_AT) return undefined;
  const keyAt = ID_AT + data.readUInt16BE(ID_AT - 2);
  const x = keyAt + ES256.length;
  const y = x + 32 + Y_LABEL.length;
  const isKey = data.subarray(keyAt, x).equals(ES256) && data.subarray(x + 32, y).equals(Y_LABEL);
  if (!isKey || keyAt === ID_AT || data.length < y + 32) return undefined;
  const point = Buffer.concat([data.subarray(x, x + 32), data.subarray(y, y + 32)]);
  try {
    publicKeyFrom(point);
  } catch {
    return undefined; // a point that is not on the curve
  }
  return {
    credential: data.subarray(ID_AT, keyAt).toString("base64url"),
    publicKey: point.toString("base64url"),
    counter: data.readUInt32BE(33),
  };
}

/** As `isSigned`, with each passkey's signature checked once more from the record: one that belongs to another answer does not count. */
export function isProven(request: InputRequest, resolution: Resolution): boolean {
  if (!isSigned(request, resolution)) return false;
  if (!takesSignature(request) || resolution.outcome !== "answered" || resolution.response.type !== "granted")
    return true;
  if (!needsConsent(request)) return holds(request, resolution.response, resolution.signed);
  const approvals = (resolution.approvals ?? []).filter(({ requestId, comment, mode, signed }) => {
    const response = { ...(comment !== undefined && { comment }), ...(mode !== undefined && { mode }) };
    return holds(request, { type: "granted", requestId, ...response }, signed);
  });
  return isSigned(request, { ...resolution, approvals });
}

function holds(request: InputRequest, response: InputResponse, signed: Signing | undefined): boolean {
  if (typeof signed !== "object") return true;
  const { nonce, publicKey, origin } = signed;
  const challenge = challengeOf(request, response, nonce);
  return verifyAssertion(signed, { publicKey, challenge, origin }) !== undefined;
}

function isTold(client: Buffer, type: string, { challenge, origin }: Expected): boolean {
  try {
    const told = JSON.parse(client.toString("utf8")) as Record<string, unknown> | null;
    return (
      told?.["type"] === type && told["challenge"] === challenge && told["origin"] === origin && !told["crossOrigin"]
    );
  } catch {
    return false;
  }
}

function isHead(data: Buffer, { origin }: Expected, flags: number): boolean {
  const site = siteOf(origin);
  if (site === undefined || data.length < HEAD_BYTES || !data.subarray(0, 32).equals(sha256(site))) return false;
  return ((data[32] ?? 0) & flags) === flags;
}

function publicKeyFrom(point: Buffer) {
  const [x, y] = [point.subarray(0, 32), point.subarray(32)].map((half) => half.toString("base64url"));
  return createPublicKey({ key: { kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" }, format: "jwk" });
}

function decoded(text: unknown): Buffer | undefined {
  if (typeof text !== "string" || text.length > MAX_FIELD_LENGTH || !/^[\w-]+$/.test(text)) return undefined;
  return Buffer.from(text, "base64url");
}

function sha256(data: string | Buffer): Buffer {
  return createHash("sha256").update(data).digest();
}
