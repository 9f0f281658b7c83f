import { reasonFrom, type Reason, type ReasonArgs } from "../protocol/reasons/reason.ts";
import type { Lang } from "./language.ts";
import type { Sentences } from "./sentences.ts";
import { callReasons } from "./call-reasons.ts";
import { consentReasons } from "./consent-reasons.ts";
import { confineReasons } from "./confine-reasons.ts";
import { fileReasons } from "./file-reasons.ts";
import { guestReasons } from "./guest-reasons.ts";
import { journalReasons } from "./journal-reasons.ts";
import { linkReasons } from "./link-reasons.ts";
import { mcpReasons } from "./mcp-reasons.ts";
import { modelReasons } from "./model-reasons.ts";
import { outsideReasons } from "./outside-reasons.ts";
import { permissionReasons } from "./permission-reasons.ts";
import { remoteReasons } from "./remote-reasons.ts";
import { turnReasons } from "./turn-reasons.ts";
import { useReasons } from "./use-reasons.ts";
import { webReasons } from "./web-reasons.ts";

/** A reason in the reader's language. Facts of version 0.1.0 hold sentences in its place; they are read as they are. */
export function sentence(stored: Reason | string, lang: Lang): string {
  const { code, args } = reasonFrom(stored);
  const say = (inner: Reason): string => sentence(inner, lang);
  const write = tables[lang][code] as ((args: unknown, say: (inner: Reason) => string) => string) | undefined;
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
