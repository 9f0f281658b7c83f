/** Why an attempt ends before its turn does. What may still be recorded differs: see `SessionLog.stop`. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly why: "interrupted" | "cancelled" | "timeout" | "leaving";
  constructor(why: Stopped["why"], message: string) {
    super(message);
    this.why = why;
  }
}
