import { reasonFrom, type Reason, type ReasonArgs, type Sentences } from "../../protocol/reasons/reason.ts";
import type { Lang } from "../language.ts";
import { callReasons } from "../reasons/call.ts";
import { confineReasons } from "../reasons/confine.ts";
import { fileReasons } from "../reasons/file.ts";
import { guestReasons } from "../reasons/guest.ts";
import { journalReasons } from "../reasons/journal.ts";
import { mcpReasons } from "../reasons/mcp.ts";
import { modelReasons } from "../reasons/model.ts";
import { permissionReasons } from "../reasons/permission.ts";
import { remoteReasons } from "../reasons/remote.ts";
import { startReasons } from "../reasons/start.ts";
import { turnReasons } from "../reasons/turn.ts";
import { useReasons } from "../reasons/use.ts";

/** A reason in the reader's language. Facts of version 0.1.0 hold sentences in its place; they are read as they are. */
export function sentence(stored: Reason | string, lang: Lang): string {
  const { code, args } = reasonFrom(stored);
  const say = (inner: Reason | string): string => sentence(inner, lang);
  const write = tables[lang][code] as ((args: unknown, say: (inner: Reason | string) => string) => string) | undefined;
  return write === undefined ? code : write(args, say); // a later version may have written a code that this one lacks
}

const tables: Record<Lang, Sentences<ReasonArgs>> = {
  en: {
    ...callReasons.en,
    ...permissionReasons.en,
    ...confineReasons.en,
    ...fileReasons.en,
    ...guestReasons.en,
    ...journalReasons.en,
    ...mcpReasons.en,
    ...modelReasons.en,
    ...remoteReasons.en,
    ...startReasons.en,
    ...turnReasons.en,
    ...useReasons.en,
    said: ({ text }) => text,
  },
  zh: {
    ...callReasons.zh,
    ...permissionReasons.zh,
    ...confineReasons.zh,
    ...fileReasons.zh,
    ...guestReasons.zh,
    ...journalReasons.zh,
    ...mcpReasons.zh,
    ...modelReasons.zh,
    ...remoteReasons.zh,
    ...startReasons.zh,
    ...turnReasons.zh,
    ...useReasons.zh,
    said: ({ text }) => text,
  },
};
