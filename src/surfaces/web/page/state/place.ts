import { attempt } from "../../../../base/attempt.ts";

/** Address within the page. It is a fragment: no server, proxy or log sees it. */
export type Place =
  | { page: "inbox" | "sessions" | "receipts" | "rules" | "devices" | "stats" }
  | { page: "request"; id: string }
  | { page: "session"; id: string };

const pages = ["sessions", "receipts", "rules", "devices", "stats"] as const;

export function readPlace(fragment: string): Place {
  const [, first = "", rest = ""] = /^#\/([^/]*)\/?(.*)$/.exec(fragment) ?? [];
  const id = attempt(() => decodeURIComponent(rest)) ?? "";
  if (first === "r" && id !== "") return { page: "request", id };
  if (first === "s" && id !== "") return { page: "session", id };
  const page = pages.find((name) => name === first);
  return { page: page ?? "inbox" };
}

export function fragmentFor(place: Place): string {
  switch (place.page) {
    case "inbox":
      return "#/";
    case "request":
      return `#/r/${encodeURIComponent(place.id)}`;
    case "session":
      return `#/s/${encodeURIComponent(place.id)}`;
    default:
      return `#/${place.page}`;
  }
}
