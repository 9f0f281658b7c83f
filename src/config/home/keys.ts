import { generateKeyPairSync } from "node:crypto";
import { createRequire } from "node:module";
import { attempt } from "../../base/attempt.ts";
import { reason, messageOf, SageError } from "../../protocol/reasons/reason.ts";
import type { Home } from "./home.ts";
import { changeFile } from "../files/locked-file.ts";
import { readSmallFile } from "../files/small-file.ts";

/** Keys by the variable that would hold them. A key of the keychain is only noted, so that the keychain is asked for nothing else. */
type Kept = Record<string, { key: string } | { keychain: true }>;

export type KeyPlace = "keychain" | "file";

/** Keeps a key in the system's keychain, or where there is none in a file that only its owner can read. */
export function saveKey(home: Home, env: NodeJS.ProcessEnv, variable: string, key: string): KeyPlace {
  const place = env["SAGE_KEYS"] !== "file" && intoKeychain(variable, key) ? "keychain" : "file";
  changeFile(home.keys, (text) => {
    const kept: Kept = { ...parse(home, text), [variable]: place === "keychain" ? { keychain: true } : { key } };
    return `${JSON.stringify(kept, undefined, 2)}\n`;
  });
  return place;
}

export function dropKey(home: Pick<Home, "keys">, variable: string): void {
  if (readSmallFile(home.keys) === undefined) return;
  changeFile(home.keys, (text) => {
    const { [variable]: gone, ...kept } = parse(home, text);
    if (gone && "keychain" in gone) outOfKeychain(variable);
    return `${JSON.stringify(kept, undefined, 2)}\n`;
  });
}

export function keptKey(home: Pick<Home, "keys">, env: NodeJS.ProcessEnv, variable: string): string | undefined {
  return env[variable] || keyIn(home, readSmallFile(home.keys) ?? "", variable);
}

/** As above, creating it if needed: in the keychain if the person's other keys are there, otherwise in the file. */
export function keptOrNewKey(
  home: Pick<Home, "keys">,
  env: NodeJS.ProcessEnv,
  variable: string,
  make: () => string,
): string {
  const had = keptKey(home, env, variable);
  if (had !== undefined) return had;
  const key = make();
  let found: string | undefined;
  changeFile(home.keys, (text) => {
    found = keyIn(home, text, variable); // another process may have created it
    if (found !== undefined) return text;
    const kept = parse(home, text);
    const there = Object.values(kept).some((at) => "keychain" in at) && intoKeychain(variable, key);
    return `${JSON.stringify({ ...kept, [variable]: there ? { keychain: true } : { key } }, undefined, 2)}\n`;
  });
  return found ?? key;
}

const RECEIPT_KEY = "SAGE_RECEIPT_KEY";

/** The Ed25519 key of this installation, by which others know its receipts; made when it is first needed. */
export function receiptKey(home: Pick<Home, "keys">, env: NodeJS.ProcessEnv): string {
  return keptOrNewKey(home, env, RECEIPT_KEY, () =>
    generateKeyPairSync("ed25519").privateKey.export({ format: "der", type: "pkcs8" }).toString("base64url"),
  );
}

function keyIn(home: Pick<Home, "keys">, text: string, variable: string): string | undefined {
  const at = parse(home, text)[variable];
  return at && ("key" in at ? at.key : fromKeychain(variable));
}

/** The environment with the keys that were kept. A variable that is set wins: it is what the person says now. */
export function withKeys(env: NodeJS.ProcessEnv, home: Home): NodeJS.ProcessEnv {
  const text = readSmallFile(home.keys);
  if (text === undefined) return env;
  const missing = Object.entries(parse(home, text)).filter(([variable]) => !env[variable]);
  if (missing.length === 0) return env;
  const found = missing.map(([variable, at]) => [variable, "key" in at ? at.key : fromKeychain(variable)] as const);
  return { ...env, ...Object.fromEntries(found.filter(([, key]) => key !== undefined)) };
}

function parse({ keys }: Pick<Home, "keys">, text: string): Kept {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text) as Kept;
  } catch (error) {
    throw new SageError(
      "config-invalid",
      reason("file-not-json", { path: keys, problem: messageOf(error), effect: "set-up-again" }),
    );
  }
}

/** Without a desktop there is no keychain, and without its package no way to it. */
function intoKeychain(variable: string, key: string): boolean {
  try {
    const entry = keychain(variable);
    entry.setPassword(key);
    return entry.getPassword() === key;
  } catch {
    return false;
  }
}

function fromKeychain(variable: string): string | undefined {
  return attempt(() => keychain(variable).getPassword() ?? undefined); // the model says which key is missing
}

function outOfKeychain(variable: string): void {
  try {
    keychain(variable).deletePassword();
  } catch {
    // gone already, or no keychain any more
  }
}

type Entry = { setPassword(key: string): void; getPassword(): string | null; deletePassword(): boolean };

function keychain(variable: string): Entry {
  // Loaded only by those who keep a key there, and at once: a model is chosen before anything can wait.
  const { Entry } = createRequire(import.meta.url)("@napi-rs/keyring") as {
    Entry: new (service: string, account: string) => Entry;
  };
  return new Entry("sage", variable);
}
