import { randomBytes } from "node:crypto";

/** Short enough to type, from an alphabet without look-alikes. */
export function newSessionId(): string {
  const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";
  return Array.from(randomBytes(8), (byte) => alphabet[byte % alphabet.length]).join("");
}
