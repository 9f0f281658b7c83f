/** Facts that one approved call writes. */
export const factsPerApproval = 7;

/** A figure names a number of facts: a journal of another length would be another figure. */
export function checkLength(found: number, wanted: number): void {
  if (Math.abs(found - wanted) > 3 * factsPerApproval)
    throw new Error(`the journal has ${found} facts and should have ${wanted}: what does an approval write now?`);
}
