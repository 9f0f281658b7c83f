/** A key as the browser tells it. `writing`: a text has the focus. */
type Pressed = {
  key: string;
  repeat: boolean;
  modified: boolean;
  writing: boolean;
};

/** The meaning of a key, wherever it is pressed. Keys of a request act on the one that has the focus. */
export type Meant =
  | { type: "go"; to: "next" | "previous" | "inbox" | "back" | "message" | "help" }
  | { type: "open" }
  | { type: "choose"; choice: "once" | "no" | "always" | "edit" | "reason" | "comment" | "stop" | "inquire" };

const choices = {
  y: "once",
  n: "no",
  a: "always",
  e: "edit",
  r: "reason",
  c: "comment",
  s: "stop",
  q: "inquire",
} as const;

/**
 * Keys that repeat, come with a modifier, or are typed into a text mean nothing here; `Escape` leaves a text. Enter confirms by pressing
 * the button that has the focus, which is the browser's doing; elsewhere it opens what has the focus.
 */
export function readKey({ key, repeat, modified, writing }: Pressed): Meant | undefined {
  if (repeat || modified) return undefined;
  if (key === "Escape") return { type: "go", to: "back" };
  if (writing) return undefined;
  if (Object.hasOwn(choices, key)) return { type: "choose", choice: choices[key as keyof typeof choices] };
  switch (key) {
    case "Enter":
      return { type: "open" };
    case "j":
      return { type: "go", to: "next" };
    case "k":
      return { type: "go", to: "previous" };
    case "i":
      return { type: "go", to: "inbox" };
    case "/":
      return { type: "go", to: "message" };
    case "?":
      return { type: "go", to: "help" };
    default:
      return undefined;
  }
}
