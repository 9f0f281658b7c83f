let start = "sage";

/** Called once by the command line, before any text is made: how the person started Sage, such as `npm start`. */
export function startsAs(command: string): void {
  start = command;
}

/** How the person starts Sage: every hint is something they can type as it stands. */
export function sage(args = ""): string {
  if (args === "") return start;
  return start === "sage" ? `${start} ${args}` : `${start} -- ${args}`;
}
