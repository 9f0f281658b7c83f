import { oneLine, visible } from "../../../base/visible.ts";
import type { PermissionRequest } from "../../../protocol/facts/request.ts";
import { PLAN_TOOL } from "../../../protocol/mode.ts";
import { ruleInTheWay } from "../../../view/request/answering.ts";
import { allows, chosenRules, textField } from "../../../view/request/choices.ts";
import type { Block, Description } from "../../../view/request/describe.ts";
import { destinationName, originLines } from "../../../view/request/origin.ts";
import type { RuleGrant } from "../../../protocol/facts/answer.ts";
import { previewLines } from "../../../view/request/past.ts";
import { diffRows } from "../draw/diff.ts";
import { marginedMarkdown } from "../draw/markdown.ts";
import { clipped } from "../draw/rows.ts";
import { choiceRows, margined, own, unbroken, type Draw, type Row } from "../widgets/draw.ts";
import { agentLines } from "./frame.ts";
import type { Body } from "./model.ts";
import type { AlwaysRow, PermissionState } from "./permission-state.ts";
import { alwaysRows, offeredChoices, permissionDraft } from "./permission-state.ts";

/** The action first, whole, and to be seen to its end, then why it is asked about; details are how it was judged and the agent's words. */
export function permissionBody(
  asked: Description,
  { more }: PermissionState,
  draw: Draw,
  consent: readonly string[] = [],
): Body {
  const { t, theme } = draw;
  const dangers = asked.dangers.map((danger) => t.danger[danger]);
  const away = asked.writes.filter(({ outside }) => outside);
  const runs = [
    ...own(unbroken(t.tools[asked.tool] ?? t.otherTool(asked.tool)), draw, { paint: theme.bold }),
    ...asked.action
      .filter((block) => !isMinor(block))
      .flatMap((block) =>
        // Details show a plan as it is written, with whatever Markdown leaves out.
        block.type === "plan" && !more
          ? marginedMarkdown(block.lines.join("\n"), draw)
          : blockLines(block, draw, askedPath(asked)),
      ),
  ];
  const lines = [
    ...runs,
    ...away.flatMap(({ path }) => margined([path], draw, { mark: "→ ", paint: theme.danger })),
    ...(dangers.length > 0 ? own(t.careful(dangers), draw, { paint: theme.danger }) : []),
    ...whyLines(asked, draw),
    ...(asked.runs ? whyLines({ ...asked, why: asked.runs }, draw) : []),
    ...consent.flatMap((line) => own(unbroken(line), draw, { paint: theme.warn })),
    ...agentLines(asked, draw),
    ...(more ? detailLines(asked, draw) : []),
  ];
  return { lines, must: runs.length };
}

/** Several requests that one answer is for: all of each, to be seen to the end. */
export function togetherBody(all: readonly { request: PermissionRequest; asked: Description }[], draw: Draw): Body {
  const { t, theme } = draw;
  const lines = all.flatMap(({ request, asked }, n) => [
    ...actionLines(asked, draw, t.place(n + 1, all.length)),
    ...originLines(request, t)
      .slice(0, 1)
      .flatMap((line) => own(line, draw, { paint: theme.dim, indent: 2 })),
    ...agentLines(asked, draw),
  ]);
  return { lines };
}

/** `place`: which of several it is. */
function actionLines(asked: Description, draw: Draw, place: string): string[] {
  const { t, theme } = draw;
  const title = unbroken(t.tools[asked.tool] ?? t.otherTool(asked.tool));
  return [
    ...own(t.aside(title, place), draw, { paint: theme.bold }),
    ...asked.action.filter((block) => !isMinor(block)).flatMap((block) => blockLines(block, draw, askedPath(asked))),
  ];
}

/** Free text stays behind a margin; a sentence of our own, which may name files, right of our own columns. */
function whyLines({ why }: Description, draw: Draw): string[] {
  const text = draw.t.because(why);
  if (text === "") return [];
  if (why.code === "said") return [...own(draw.t.why, draw), ...margined(text.split("\n"), draw)];
  return text.split("\n").flatMap((line) => own(line, draw, { paint: draw.theme.dim, indent: 2 }));
}

function askedPath({ action }: Description): string | undefined {
  return action.find((block) => block.type === "path")?.given;
}

function isMinor(block: Block): boolean {
  return block.type === "field" && block.minor === true;
}

function detailLines(asked: Description, draw: Draw): string[] {
  const { t, theme } = draw;
  const targets = asked.writes.filter(({ outside }) => !outside);
  return [
    "",
    ...partLines(asked, draw),
    ...(targets.length > 0 ? [...own(t.writes, draw), ...targets.flatMap(({ path }) => margined([path], draw))] : []),
    ...asked.action.filter(isMinor).flatMap((block) => blockLines(block, draw)),
    ...wordLines(asked, draw),
    ...own(t.size(asked.characters, asked.lines), draw, { paint: theme.dim }),
  ];
}

/** `path`: the file that a change is of. */
function blockLines(block: Block, draw: Draw, path = ""): string[] {
  const { t, theme } = draw;
  switch (block.type) {
    case "command":
      return margined(block.lines, draw, { paint: theme.code });
    case "plan":
      return margined(block.lines, draw);
    case "path":
      return [
        ...margined([block.given], draw, { paint: theme.bold }),
        ...(block.real === undefined ? [] : margined([block.real], draw, { mark: "→ " })),
      ];
    case "change":
      return diffRows(block.hunks, { theme, width: draw.width, indent: 0, path, loaded: draw.loaded }).flat();
    case "omitted":
      return own(t.omitted[block.why], draw, { paint: theme.warn, indent: 2 });
    case "field": {
      const [first = "", ...more] = block.lines;
      return margined([`${block.name}: ${first}`, ...more], draw);
    }
    default:
      return block satisfies never;
  }
}

const after = (colon: string, text: string): string => (text === "" ? "" : `${colon}${text}`);

function partLines({ parts }: Description, draw: Draw): string[] {
  if (parts.length < 2) return [];
  const { t, theme } = draw;
  return [
    ...own(t.parts, draw),
    ...parts.flatMap(({ text, behavior, reason, asks }) => {
      const verdict = unbroken(`${t.behavior[behavior]}${after(t.colon, t.because(reason))}`);
      return [
        ...margined(text.split("\n"), draw),
        ...own(asks ? `▸ ${verdict}` : verdict, draw, { paint: asks ? theme.warn : theme.dim, indent: asks ? 2 : 4 }),
      ];
    }),
  ];
}

function wordLines({ words }: Description, draw: Draw): string[] {
  if (!words) return [];
  const { t, theme } = draw;
  return [
    ...own(t.ownWords, draw),
    ...margined(words.text.split("\n"), draw, { paint: theme.italic }),
    ...(words.cut > 0 ? own(t.cut(words.cut), draw, { paint: theme.dim, indent: 2 }) : []),
  ];
}

export function permissionChoices(
  request: PermissionRequest,
  state: PermissionState,
  { draw, seenEnd }: { draw: Draw; seenEnd: boolean },
) {
  const { wording, theme } = draw;
  switch (state.stage) {
    case "choices": {
      const written = permissionDraft(request, state);
      const rows = offeredChoices(request, state).map((choice, n): Row => {
        const locked = allows(choice) && !seenEnd;
        const label =
          choice === "together"
            ? wording.together(state.alike.length)
            : (request.tool === PLAN_TOOL ? wording.planChoices : wording.choices)[choice];
        return {
          sign: `${n + 1}`,
          label: locked ? wording.lockedChoice(label) : label,
          more: written[choice] === undefined ? undefined : clipped(`✎ ${oneLine(written[choice])}`, draw.width - 6),
          paint: locked ? theme.dim : plain,
        };
      });
      const { choices, focus } = choiceRows(rows, state.row, draw);
      const title = seenEnd ? [] : own(wording.locked, draw, { paint: theme.warn });
      return { choices: [...title, ...choices], focus: moved(focus, state.row === undefined ? 0 : title.length) };
    }
    case "always":
      return alwaysChoices(request, state, draw);
    case "together": {
      const { all, alike } = state;
      const rows = [wording.allowAll(alike.length), wording.refuseAll(alike.length)].map((label, n): Row => ({
        sign: `${n + 1}`,
        label: n === 0 && !seenEnd ? wording.lockedChoice(label) : label,
      }));
      return choiceRows(rows, all === undefined ? undefined : all === "granted" ? 0 : 1, draw);
    }
    case "reason": {
      const [label, placeholder] =
        request.tool === PLAN_TOOL
          ? [wording.planReason, wording.planReasonHere]
          : [wording.reason, wording.reasonHere];
      return choiceRows([{ sign: "✎", label, field: state.reason, placeholder }], 0, draw);
    }
    case "comment":
      return choiceRows(
        [{ sign: "✎", label: wording.comment, field: state.comment, placeholder: wording.commentHere }],
        0,
        draw,
      );
    case "unask": {
      const { rule = "", destination = "session", file } = ruleInTheWay(request) ?? {};
      const more = file === undefined ? undefined : unbroken(visible(file));
      return choiceRows(
        [
          {
            sign: "−",
            label: unbroken(draw.t.unask(visible(rule), destinationName(destination, request, draw.t))),
            more,
          },
          { sign: "✎", label: draw.t.unaskInstead, field: state.unask, placeholder: visible(rule) },
        ],
        1,
        draw,
      );
    }
    case "edit": {
      const label = wording.edit[textField(request) ?? "input"];
      return choiceRows([{ sign: "✎", label, field: state.edit }], 0, draw);
    }
    default:
      return state.stage satisfies never;
  }
}

const plain = (text: string) => text;

function moved({ from, to }: { from: number; to: number }, by: number): { from: number; to: number } {
  return { from: from + by, to: to + by };
}

function alwaysChoices(request: PermissionRequest, { always }: PermissionState, draw: Draw) {
  const all = alwaysRows(request);
  const rules = chosenRules(request, { ...always, own: always.own.text });
  return choiceRows(
    all.map((row) => alwaysRow(row, { request, always, rules }, draw)),
    always.row,
    draw,
  );
}

function alwaysRow(
  row: AlwaysRow,
  {
    request,
    always,
    rules,
  }: Pick<PermissionState, "always"> & { request: PermissionRequest; rules: readonly RuleGrant[] },
  draw: Draw,
): Row {
  const { wording, t, theme } = draw;
  const count = rules.length;
  switch (row.type) {
    case "offer": {
      const { rule, note } = row.offer;
      const more = oneLine(note ? t.because(note) : "");
      return { sign: always.ticked[row.n] ? "[x]" : "[ ]", label: unbroken(visible(rule)), more };
    }
    case "own":
      return { sign: "✎", label: wording.ownRule, field: always.own, placeholder: wording.ownRuleHere };
    case "place": {
      const file = row.places.find(({ destination }) => destination === always.place)?.file;
      const more = file === undefined ? undefined : unbroken(visible(file));
      return { sign: "‹›", label: wording.savedFor(destinationName(always.place, request, t)), more };
    }
    case "keep":
      return {
        sign: "✓",
        label: wording.keep(count),
        more: rulesPreview(rules, draw),
        paint: count === 0 ? theme.dim : plain,
      };
    default:
      return row satisfies never;
  }
}

/** Meaning of the ticked rules together. */
function rulesPreview(rules: readonly RuleGrant[], { past, t }: Draw): string | undefined {
  const asked = rules.map(({ rule }) => rule);
  const preview = asked.length > 0 ? past?.(asked) : undefined;
  return preview && previewLines(preview, t).join(" ");
}

export function permissionKeys(
  request: PermissionRequest,
  state: PermissionState,
  { wording: { keys } }: Draw,
): string[] {
  switch (state.stage) {
    case "together":
      return [keys.pick, keys.back, keys.move];
    case "choices":
      return [keys.pick, state.more ? keys.less : keys.more, keys.aside, keys.move];
    case "always":
      switch (alwaysRows(request)[state.always.row]?.type) {
        case "offer":
          return [keys.toggle, keys.back, keys.editRule, keys.move];
        case "own":
          return [keys.next, keys.back, keys.move];
        case "place":
          return [keys.change, keys.back, keys.move];
        default:
          return [keys.pick, keys.back, keys.move];
      }
    default:
      return [keys.send, keys.back, keys.newline];
  }
}
