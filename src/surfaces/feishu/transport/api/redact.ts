import type { FeishuApp, Log } from "./config.ts";

/** Removes from text every secret that would let somebody act as the bot. */
export function redactorOf({ appSecret, encryptKey, verificationToken }: FeishuApp): (text: string) => string {
  const secrets = [appSecret, encryptKey, verificationToken].filter((one) => one !== undefined && one.length >= 4);
  return (text) =>
    secrets
      .reduce<string>((clean, secret) => clean.replaceAll(secret ?? "", "[secret]"), text)
      .replace(/\b([tuac]-[\w.-]{12,})/g, (token) => `${token.slice(0, 2)}[token]`)
      .replace(/\b(ticket|access_key|token)=[^&\s"']+/g, "$1=[token]");
}

/** The library's log: errors arrive there with the whole request, so only their words are kept. */
export function libraryLogger(log: Log, redact: (text: string) => string, worst: "warn" | "debug" = "warn") {
  const at = (level: Parameters<Log>[0]) => (messages: unknown[]) =>
    log(level, redact(wordsOf(messages).slice(0, 500)));
  // The library's info lines are of no use to an operator.
  return { error: at(worst), warn: at("debug"), info: at("debug"), debug: () => {}, trace: () => {} };
}

function wordsOf(messages: unknown): string {
  if (Array.isArray(messages)) return messages.map(wordsOf).join(" ");
  if (messages instanceof Error) return messages.message;
  return typeof messages === "string" ? messages : "(no words)";
}
