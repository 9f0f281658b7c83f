import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { appendFileSync } from "node:fs";
import type { Home } from "./home.ts";
import { keptKey, keptOrNewKey } from "./keys.ts";
import { MAX_STATE_BYTES, readSmallFile } from "../files/small-file.ts";

/** The newest record of a session: its hash covers all before it. */
type Head = { seq: number; hash: string };

/** The end of a session's chain of hashes after a turn, sealed with a key that is not in the journal. */
type Anchor = Head & { session: string; at: number };

export type Anchors = {
  /** Writes an anchor at the end of a turn. Never throws: no turn is lost because its anchor could not be written. */
  put(session: string, head: Head): void;
  /** The newest anchor of each session. Lines that were not sealed with this person's key do not count. */
  read(): { newest: Map<string, Anchor>; forged: number };
};

const VARIABLE = "SAGE_ANCHOR_KEY";

/** A line per ended turn in a file next to the journal; its key is stored with the person's other keys. */
export function createAnchors(home: Pick<Home, "anchors" | "keys">, env: NodeJS.ProcessEnv): Anchors {
  let key: string | undefined;
  return {
    put(session, { seq, hash }) {
      const anchor = { session, seq, hash, at: Date.now() };
      try {
        key ??= keptOrNewKey(home, env, VARIABLE, () => randomBytes(32).toString("base64url"));
        appendFileSync(home.anchors, `${JSON.stringify({ ...anchor, seal: sealOf(anchor, key) })}\n`, { mode: 0o600 });
      } catch {
        // A full disk, a locked keychain: the record then counts as chained only, and `sage why` says so.
      }
    },
    read() {
      const newest = new Map<string, Anchor>();
      let forged = 0;
      const known = keptKey(home, env, VARIABLE);
      for (const line of (readSmallFile(home.anchors, MAX_STATE_BYTES) ?? "")
        .split("\n")
        .filter((text) => text !== "")) {
        const anchor = parse(line);
        if (!anchor || known === undefined || !isEqual(anchor.seal, sealOf(anchor, known))) forged++;
        else if (anchor.seq >= (newest.get(anchor.session)?.seq ?? 0)) newest.set(anchor.session, anchor);
      }
      return { newest, forged };
    },
  };
}

function sealOf({ session, seq, hash, at }: Anchor, key: string): string {
  return createHmac("sha256", key)
    .update(JSON.stringify([session, seq, hash, at]))
    .digest("base64url");
}

function parse(line: string): (Anchor & { seal: string }) | undefined {
  try {
    const { session, seq, hash, at, seal } = JSON.parse(line) as Record<string, unknown>;
    if (typeof session !== "string" || typeof hash !== "string" || typeof seal !== "string") return undefined;
    return typeof seq === "number" && typeof at === "number" ? { session, seq, hash, at, seal } : undefined;
  } catch {
    return undefined; // half a line of a process that was killed
  }
}

function isEqual(mac: string, other: string): boolean {
  const [a, b] = [Buffer.from(mac), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
