import TurndownService from "turndown";

/** HTML as Markdown, with addresses that lead somewhere, and without what no reader of the page would see. */
export function toMarkdown(html: string, url: string): string {
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  service.addRule("link", {
    filter: (node) => node.nodeName === "A" && attribute(node, "href") !== null,
    replacement(content, node) {
      const to = resolved(attribute(node, "href"), url);
      const text = content.trim().replace(/\n+/g, " ");
      return to === undefined || text === "" ? content : `[${text}](${to})`;
    },
  });
  service.addRule("picture", {
    filter: "img",
    replacement(_, node) {
      const to = resolved(attribute(node, "src"), url);
      const text = (attribute(node, "alt") ?? "").trim().replace(/\s+/g, " ");
      return text === "" || to === undefined ? text : `![${text}](${to})`;
    },
  });
  service.addRule("cell", { filter: ["td", "th"], replacement: (content) => `${cellMark}${content.trim()}` });
  service.addRule("row", { filter: "tr", replacement: (content) => `${rowMark}${content}` });
  service.addRule("rows", { filter: ["thead", "tbody", "tfoot"], replacement: (content) => content });
  service.addRule("table", { filter: "table", replacement: table });
  service.addRule("title", { filter: "title", replacement: (content) => `${content}\n\n` });
  service.addRule("unseen", { filter: (node) => unseen.has(node.nodeName) || isHidden(node), replacement: () => "" });
  return service.turndown(html.replace(/[\ue000\ue001]/g, ""));
}

const unseen = new Set(
  "SCRIPT STYLE NOSCRIPT TEMPLATE SVG IFRAME OBJECT EMBED CANVAS HEAD LINK META INPUT SELECT BUTTON DIALOG".split(" "),
);

/** A page may hold text that its author shows to no person: that is not the page. */
function isHidden(node: object): boolean {
  if (attribute(node, "hidden") !== null || attribute(node, "aria-hidden") === "true") return true;
  return /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attribute(node, "style") ?? "");
}

/** The types of the web are those of a browser, and this is none. */
function attribute(node: object, name: string): string | null {
  return (node as { getAttribute(name: string): string | null }).getAttribute(name);
}

function resolved(to: string | null, url: string): string | undefined {
  if (to === null || to.trim() === "") return undefined;
  const address = URL.parse(to, url);
  return address && /^(https?|mailto):$/.test(address.protocol) ? address.href : undefined;
}

/** Stand for the beginnings of rows and cells until their table is written; no page has them. */
const [rowMark, cellMark] = ["\ue000", "\ue001"];

/** A table of a page as one of Markdown; one that holds only a layout becomes its cells, one after the other. */
function table(content: string): string {
  const rows = content
    .split(rowMark)
    .map((row) => row.split(cellMark).slice(1))
    .filter((cells) => cells.length > 0);
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const cells = rows.flat();
  if (width <= 1 || cells.some((cell) => cell.includes("\n\n") || cell.includes("| --- |")))
    return `\n\n${cells.join("\n\n")}\n\n`;
  const line = (row: readonly string[]) => `| ${row.join(" | ")} |`;
  const full = rows.map((row) =>
    Array.from({ length: width }, (_, n) => (row[n] ?? "").replace(/\n/g, " ").replace(/\|/g, "\\|")),
  );
  const [head = [], ...rest] = full;
  return `\n\n${[line(head), line(head.map(() => "---")), ...rest.map(line)].join("\n")}\n\n`;
}
