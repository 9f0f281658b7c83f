import { reasonFrom, type Reason, type ReasonArgs, type Sentences } from "../../protocol/reasons/reason.ts";
import type { Lang } from "../language.ts";
import { callReasons } from "../reasons/call.ts";
import { consentReasons } from "../reasons/consent.ts";
import { confineReasons } from "../reasons/confine.ts";
import { fileReasons } from "../reasons/file.ts";
import { guestReasons } from "../reasons/guest.ts";
import { journalReasons } from "../reasons/journal.ts";
import { linkReasons } from "../reasons/link.ts";
import { mcpReasons } from "../reasons/mcp.ts";
import { modelReasons } from "../reasons/model.ts";
import { outsideReasons } from "../reasons/outside.ts";
import { permissionReasons } from "../reasons/permission.ts";
import { remoteReasons } from "../reasons/remote.ts";
import { turnReasons } from "../reasons/turn.ts";
import { useReasons } from "../reasons/use.ts";
import { webReasons } from "../reasons/web.ts";

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
    ...consentReasons.en,
    ...confineReasons.en,
    ...fileReasons.en,
    ...guestReasons.en,
    ...journalReasons.en,
    ...linkReasons.en,
    ...mcpReasons.en,
    ...modelReasons.en,
    ...outsideReasons.en,
    ...remoteReasons.en,
    ...turnReasons.en,
    ...useReasons.en,
    ...webReasons.en,
    said: ({ text }) => text,
  },
  zh: {
    ...callReasons.zh,
    ...permissionReasons.zh,
    ...consentReasons.zh,
    ...confineReasons.zh,
    ...fileReasons.zh,
    ...guestReasons.zh,
    ...journalReasons.zh,
    ...linkReasons.zh,
    ...mcpReasons.zh,
    ...modelReasons.zh,
    ...outsideReasons.zh,
    ...remoteReasons.zh,
    ...turnReasons.zh,
    ...useReasons.zh,
    ...webReasons.zh,
    said: ({ text }) => text,
  },
};
