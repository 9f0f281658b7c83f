import type { Asked } from "../../protocol/host/receipt.ts";
import type { Sender } from "../../protocol/sender.ts";
import { headline } from "../../texts/shared/resolution.ts";
import type { Texts } from "../../texts/shared/texts.ts";

/** How a request ended, and whether the guest that asked has read it, where that is still open or nobody knows. */
export function endLine({ request, resolution, delivery }: Asked, t: Texts, me?: Sender): string | undefined {
  if (!resolution) return undefined;
  const end = headline(resolution, t, me, request);
  return delivery === undefined || delivery === "read" ? end : `${end} · ${t.delivery[delivery]}`;
}
