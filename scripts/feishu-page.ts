import type { Seen } from "../test/support/feishu/view.ts";

export type Scene = { title: string; messages: Seen[]; toast?: string };

type Json = Record<string, unknown>;

/** A chat as a page of its own: no script, nothing loaded, every text escaped. */
export function page({
  title,
  about,
  lang,
  scenes,
}: {
  title: string;
  about: string;
  lang: string;
  scenes: Scene[];
}): string {
  const before = new Map<string, string>();
  const body = scenes.map(({ title: heading, messages, toast }, n) => {
    const shown = messages.map((message) => {
      const html = messageHtml(message);
      const fresh = before.get(message.id) !== html;
      before.set(message.id, html);
      return `<div class="message ${message.from === "bot" ? "bot" : "person"}${fresh ? " fresh" : ""}">${html}</div>`;
    });
    return `<section><h2><b>${n + 1}</b> ${esc(heading)}</h2><div class="chat">${shown.join("")}${toast === undefined ? "" : `<div class="toast">${esc(toast)}</div>`}</div></section>`;
  });
  return `<!doctype html><html lang="${lang}"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${esc(title)}</title><style>${style}</style><main><h1>${esc(title)}</h1><p>${esc(about)}</p>${body.join("\n")}</main></html>\n`;
}

/** One card alone, as wide as a phone. */
export function cardPage({ card, text }: Seen, lang: string): string {
  return `<!doctype html><html lang="${lang}"><meta charset="utf-8"><style>${style} body{background:#fff} .alone{padding:8px;width:359px} .card{width:100%}</style><div class="alone">${card ? cardHtml(card) : `<div class="text">${esc(text)}</div>`}</div></html>`;
}

function messageHtml({ from, text, card, reactions }: Seen): string {
  const who = `<div class="who">${esc(from === "bot" ? "Sage" : from)}</div>`;
  const marks = reactions.length > 0 ? `<div class="who">${esc(reactions.join(" "))}</div>` : "";
  return `${who}${card ? cardHtml(card) : `<div class="text">${esc(text.replaceAll("@_user_1", "@Sage"))}</div>`}${marks}`;
}

function cardHtml(card: Json): string {
  const header = (card["header"] ?? {}) as Json;
  const tags = ((header["text_tag_list"] ?? []) as Json[]).map(
    (one) => `<span class="tag">${plain(one["text"])}</span>`,
  );
  const { elements = [] } = (card["body"] ?? {}) as { elements?: Json[] };
  return `<div class="card"><header class="${word(header["template"])}"><div>${plain(header["title"])} ${tags.join("")}</div><small>${plain(header["subtitle"])}</small></header><div class="body">${elements.map(elementHtml).join("")}</div></div>`;
}

function elementHtml(element: Json): string {
  const inner = (name: string) => ((element[name] ?? []) as Json[]).map(elementHtml).join("");
  switch (element["tag"]) {
    case "markdown":
      return `<div class="md ${element["text_size"] === "notation" ? "note" : ""}">${markdownHtml(String(element["content"]))}</div>`;
    case "hr":
      return "<hr>";
    case "column_set":
      return `<div class="row">${inner("columns")}</div>`;
    case "column":
      return `<div>${inner("elements")}</div>`;
    case "collapsible_panel":
      return `<details ${element["expanded"] === true ? "open" : ""}><summary>${plain((element["header"] as Json)["title"])}</summary>${inner("elements")}</details>`;
    case "form":
      return `<div class="form">${inner("elements")}</div>`;
    case "button":
      return `<span class="button ${word(element["type"])}">${plain(element["text"])}</span>`;
    case "input":
      return `<div class="field">${plain(element["placeholder"])}</div>`;
    case "select_static":
    case "multi_select_static":
      return `<div class="field">${plain(element["placeholder"])} ▾<small>${((element["options"] ?? []) as Json[]).map((one) => plain(one["text"])).join(" · ")}</small></div>`;
    default:
      return "";
  }
}

const word = (text: unknown): string => (typeof text === "string" ? esc(text) : "");
const plain = (text: unknown): string => word((text as Json | undefined)?.["content"]);

/** As much of the client's Markdown as the cards use. Escaped first: what is a tag afterwards is ours. */
function markdownHtml(text: string): string {
  return text
    .split(/^```\w*\n([^]*?)\n```$/m)
    .map((piece, n) => (n % 2 === 1 ? `<pre>${diffHtml(piece)}</pre>` : runningHtml(piece)))
    .join("");
}

function diffHtml(text: string): string {
  return text
    .split("\n")
    .map((line) =>
      /^[+-] /.test(line) ? `<span class="${line.startsWith("+") ? "plus" : "minus"}">${esc(line)}</span>` : esc(line),
    )
    .join("\n");
}

/** Tags of the client, as it draws them. */
function drawn(text: string): string {
  return text
    .replace(
      /<local_datetime millisecond='(\d+)' format_type='(\w+)'><\/local_datetime>/g,
      (_, at: string, type: string) => {
        const [day = "", time = ""] = new Date(Number(at)).toISOString().split("T");
        return type === "time" ? time.slice(0, 5) : day;
      },
    )
    .replace(/<person [^>]*><\/person>/g, "@…")
    .replace(/<at id=\w+><\/at>/g, "@审批人");
}

function runningHtml(given: string): string {
  const text = drawn(given);
  const decoded = text.replaceAll("<br>", "\n").replace(/&#(\d+);/g, (_, code: string) => `\u0000${code}\u0001`);
  return esc(decoded.trim())
    .replace(/`([^`\n]+)`/g, "<code>$1</code>")
    .replace(/\*\*([^*\n]+)\*\*/g, "<b>$1</b>")
    .replace(/^#+ (.*)$/gm, "<b>$1</b>")
    .replaceAll("\n", "<br>")
    .replace(/\u0000(\d+)\u0001/g, (_, code: string) => esc(String.fromCodePoint(Number(code))));
}

const esc = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const style = `
body{font:15px/1.5 system-ui,"PingFang SC","Noto Sans CJK SC",sans-serif;background:#f2f3f5;color:#1f2329;margin:0}
main{max-width:760px;margin:0 auto;padding:24px}h1{font-size:24px}h2{font-size:16px;font-weight:500}h2 b{background:#3370ff;color:#fff;border-radius:12px;padding:1px 9px;margin-right:6px}
.chat{background:#fff;border-radius:12px;padding:16px;display:flex;flex-direction:column;gap:12px}
.message{max-width:88%;opacity:.55}.message.fresh{opacity:1}.person{align-self:flex-end}.who{font-size:12px;color:#8f959e;margin-bottom:2px}.person .who{text-align:right}
.text{background:#d1e3ff;border-radius:8px;padding:8px 12px;white-space:pre-wrap}.bot .text{background:#f2f3f5}
.card{border:1px solid #dee0e3;border-radius:8px;overflow:hidden;width:520px;max-width:100%}
header{padding:8px 12px;font-weight:600;background:#eff0f1}header small{font-weight:400;color:#646a73}
header.orange{background:#ffead2}header.blue{background:#e1eaff}header.wathet{background:#d9f3fd}header.green{background:#d9f5d6}header.red{background:#fde2e2}
.tag{font-size:12px;font-weight:400;border-radius:4px;padding:0 6px;background:#fff9}.body{padding:10px 12px;display:flex;flex-direction:column;gap:8px}
.note{font-size:12px;color:#646a73}pre{background:#f5f6f7;border-radius:6px;padding:8px;margin:4px 0;overflow-x:auto;font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap}
code{background:#f5f6f7;border-radius:4px;padding:0 4px;font-family:ui-monospace,monospace}.plus{color:#067d17}.minus{color:#d83931}
.row{display:flex;gap:8px;flex-wrap:wrap}.button{display:inline-block;border:1px solid #d0d3d6;border-radius:6px;padding:4px 12px}
.primary_filled{background:#3370ff;color:#fff;border-color:#3370ff}.primary,.primary_text{color:#3370ff}.danger{color:#f54a45;border-color:#f54a45}.danger_text{color:#f54a45;border:0}.text.button{border:0;background:none;color:#646a73}.body>.button{align-self:flex-start}
.form{display:flex;flex-direction:column;gap:8px;align-items:flex-start}.field{border:1px solid #d0d3d6;border-radius:6px;padding:4px 10px;color:#8f959e;width:95%}.field small{display:block}
details{border:1px solid #dee0e3;border-radius:6px;padding:4px 10px}summary{color:#646a73}hr{border:0;border-top:1px solid #dee0e3;width:100%}
@media(max-width:480px){main{padding:8px}h1{font-size:18px}.chat{padding:8px}.message{max-width:100%}.card{width:100%}}
.toast{align-self:center;background:#1f2329;color:#fff;border-radius:8px;padding:6px 14px}`;
