let start = "sage";
let elsewhere = "sage";

/** Called once by the command line, before any text is made: how the person started Sage, such as `npm start`, and would from another folder. */
export function startsAs(command: string, fromElsewhere = command): void {
  start = command;
  elsewhere = fromElsewhere;
}

/** How the person starts Sage, so that every hint can be typed as it is shown. */
export function sage(args = ""): string {
  if (args === "") return start;
  return start === "sage" ? `${start} ${args}` : `${start} -- ${args}`;
}

/** The same for a text whose author does not know how Sage was started, and names its commands as `sage …` in backquotes. */
export function asTyped(text: string): string {
  return text.replace(/`sage ([^`]+)`/g, (_, args: string) => `\`${sage(args)}\``);
}

/** How the person starts Sage in a project of theirs. */
export function sageElsewhere(): string {
  return elsewhere;
}
