/**
 * Crash tests only: `SAGE_FAULT=commit:3:before` kills this process with SIGKILL right before its third commit.
 * Without the variable the seam is a no-op.
 */
export const fault: (point: string, side: "before" | "after") => void = arm(process.env["SAGE_FAULT"]);

function arm(spec: string | undefined): typeof fault {
  if (!spec) return () => {};
  const [point, nth, side] = spec.split(":");
  let seen = 0;
  return (at, now) => {
    if (at !== point) return;
    if (now === "before") seen++;
    if (now === side && seen === Number(nth)) process.kill(process.pid, "SIGKILL");
  };
}
