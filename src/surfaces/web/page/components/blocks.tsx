import type { ComponentChildren } from "preact";
import { oneLine } from "../../../../base/visible.ts";
import { detailed, type DetailedLine, type Hunk } from "../../../../view/items/change.ts";
import type { Block } from "../../../../view/request/describe.ts";
import { Safe } from "./code.tsx";
import { useWords } from "../state/context.ts";

/** A part of what will run, whole. Lines are safe to draw already. */
export function ActionBlock({ block }: { block: Block }) {
  const { t } = useWords();
  switch (block.type) {
    case "command":
      return (
        <pre class="command" tabIndex={0}>
          {block.lines.map((line) => (
            <div class="line">
              <Safe text={line} />
            </div>
          ))}
        </pre>
      );
    case "plan":
      return (
        <pre class="plan" tabIndex={0}>
          <Safe text={block.lines.join("\n")} />
        </pre>
      );
    case "path":
      return (
        <p class="path">
          <b>
            <Safe text={block.given} />
          </b>
          {block.real !== undefined && (
            <span>
              {" → "}
              <Safe text={block.real} />
            </span>
          )}
        </p>
      );
    case "change":
      return <Change hunks={block.hunks} />;
    case "omitted":
      return <p class="warn">{t.omitted[block.why]}</p>;
    case "field":
      return (
        <div class="field">
          <span class="name">{block.name}</span>
          <pre tabIndex={0}>
            <Safe text={block.lines.join("\n")} />
          </pre>
        </div>
      );
    default:
      return block satisfies never;
  }
}

/** A change to a file, line by line, with the words that changed. */
export function Change({ hunks }: { hunks: readonly Hunk[] }) {
  return (
    <div class="diff" tabIndex={0}>
      {hunks.map((hunk, n) => (
        <>
          {n > 0 && (
            <div class="gap" aria-hidden="true">
              ⋯
            </div>
          )}
          {detailed(hunk).map((line) => (
            <Line line={line} />
          ))}
        </>
      ))}
    </div>
  );
}

const marks = { "+": "add", "-": "del", " ": "same" } as const;

function Line({ line }: { line: DetailedLine }) {
  const { mark, text, number, words = [] } = line;
  const Tag = mark === "+" ? "ins" : mark === "-" ? "del" : "div";
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const [from, to] of words) {
    parts.push(
      <Safe text={text.slice(at, from)} />,
      <b>
        <Safe text={text.slice(from, to)} />
      </b>,
    );
    at = to;
  }
  return (
    <Tag class={`row ${marks[mark]}`}>
      <span class="number" aria-hidden="true">
        {number ?? ""}
      </span>
      <span class="mark">{mark}</span>
      <span class="text">
        {parts}
        <Safe text={text.slice(at)} />
      </span>
    </Tag>
  );
}

/** A sentence of Sage's own, which may name foreign things. */
export function Sentence({ text, kind }: { text: string; kind?: string }) {
  return text === "" ? null : (
    <p class={kind}>
      {text.split("\n").map((line, n) => (
        <>
          {n > 0 && <br />}
          {oneLine(line)}
        </>
      ))}
    </p>
  );
}
