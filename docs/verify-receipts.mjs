// Checks the receipts that `sage export --format receipts` wrote. Needs Node alone: node verify-receipts.mjs <file> [<public key>]
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";

const [path, expected] = process.argv.slice(2);
const sha = (text) => createHash("sha256").update(text).digest("base64url");
const fail = (why) => {
  process.stderr.write(`NOT VALID: ${why}\n`);
  process.exit(1);
};

const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
const [{ signature, ...statement }, ...facts] = lines.map((line) => JSON.parse(line));
const { session, publicKey: x, record, at } = statement;
if (statement.receipts !== 1) fail(`a format that this program does not know: ${statement.receipts}`);
if (expected !== undefined && expected !== x) fail(`signed by ${x}, not by ${expected}`);
const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
if (!verify(null, Buffer.from(JSON.stringify(statement)), publicKey, Buffer.from(signature, "base64url")))
  fail("the signature does not fit the first line");

let head = sha(session);
let whole = 0;
for (const [n, { key, type, at: when, digest, salt, data, redacted }] of facts.entries()) {
  if (data !== undefined && sha(`${salt}\n${JSON.stringify(data)}`) !== digest)
    fail(`line ${n + 2} (${key}) was changed`);
  if (data !== undefined) whole++;
  head = sha([head, key, type, when, digest, redacted === undefined ? "" : sha(JSON.stringify(redacted))].join("\n"));
}
if (facts.length !== statement.facts) fail(`${facts.length} facts, and ${statement.facts} were signed`);
if (head !== statement.head) fail("a fact was changed, added, removed or moved");
const told = `valid: session ${session}, ${facts.length} facts, ${whole} with their whole body`;
process.stdout.write(`${told}, signed ${new Date(at).toISOString()}\n`);
process.stdout.write(`key ${x}; Sage's own record was "${record}" then\n`);
