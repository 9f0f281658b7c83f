/** A session's first message on one line, without what was piped in beside it. */
export function titleOf({ title }: { title: string }): string {
  return title
    .replace(/\n+`{3,}stdin\n[^]*$/, "")
    .replace(/\s+/g, " ")
    .trim();
}
