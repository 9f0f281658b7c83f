import { writeWith } from "../protocol/reasons/reason.ts";
import { sentence } from "../texts/shared/sentence.ts";

export * from "../protocol/reasons/reason.ts";

// Embedders read messages: an error that leaves the SDK says why in English, and so do refusals, notices and failed outcomes.
writeWith((why) => {
  try {
    return sentence(why, "en");
  } catch {
    return why.code; // the sentences lie in a file of their own, and no file can be opened any more
  }
});
