import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { prose } from "../../../../base/visible.ts";
import { Code } from "./code.tsx";

/** Markdown as elements of ours and nothing else: HTML in it is text, a picture is a link, a heading is below those of the page. */
export function Markdown({ text }: { text: string }) {
  return <div class="md">{blocks(Lexer.lex(prose(text), { gfm: true }))}</div>;
}

function blocks(tokens: readonly Token[]): ComponentChildren {
  return tokens.map(block);
}

function block(token: Token): ComponentChildren {
  switch (token.type) {
    case "heading":
      // All at the same level: a model skips levels as it likes, and screen readers navigate by them.
      return <h3 class={`level-${(token as Tokens.Heading).depth}`}>{inline(token.tokens)}</h3>;
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "text":
      return "tokens" in token && token.tokens ? inline(token.tokens) : token.text;
    case "code":
      return <Code text={token.text} lang={(token as Tokens.Code).lang} />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>;
    case "list":
      return <List list={token as Tokens.List} />;
    case "table":
      return <Table table={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "space":
    case "def":
      return null;
    default:
      return <p>{token.raw}</p>;
  }
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item) => (
    <li class={item.task ? "task" : undefined}>
      {item.task && <span aria-hidden="true">{item.checked ? "☑ " : "☐ "}</span>}
      {blocks(item.tokens.filter(({ type }) => type !== "checkbox"))}
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table }: { table: Tokens.Table }) {
  const cells = (row: Tokens.TableCell[], Cell: "th" | "td") => row.map((cell) => <Cell>{inline(cell.tokens)}</Cell>);
  return (
    <div class="scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>{cells(table.header, "th")}</tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr>{cells(row, "td")}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[] = []): ComponentChildren {
  return tokens.map((token) => {
    switch (token.type) {
      case "strong":
        return <strong>{inline(token.tokens)}</strong>;
      case "em":
        return <em>{inline(token.tokens)}</em>;
      case "del":
        return <del>{inline(token.tokens)}</del>;
      case "codespan":
        return <code>{token.text}</code>;
      case "br":
        return <br />;
      case "link":
      case "image":
        return link(token as Tokens.Link | Tokens.Image);
      case "escape":
      case "text":
        return "tokens" in token && token.tokens ? inline(token.tokens) : token.text;
      default:
        return token.raw;
    }
  });
}

/** Only addresses of the web lead anywhere; the rest is shown as it was written. */
function link(token: Tokens.Link | Tokens.Image): ComponentChildren {
  const { href, text, raw } = token;
  if (!/^(?:https?|mailto):/i.test(href)) return raw;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
      {token.type === "image" ? `🖼 ${text || href}` : inline(token.tokens)}
    </a>
  );
}
