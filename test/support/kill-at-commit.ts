// Preload for a process of Sage that is to die at a commit: --import this file, with KILL_AT="commit:3:before" in its environment.
// The product knows nothing of it: the statement COMMIT of node:sqlite is wrapped.
import { DatabaseSync, type StatementSync } from "node:sqlite";

const [point, nth, side] = (process.env["KILL_AT"] ?? "").split(":");
delete process.env["KILL_AT"]; // programs that it starts live
let seen = 0;

if (point === "commit") {
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql, ...rest): StatementSync {
    const statement = prepare.call(this, sql, ...rest);
    if (sql !== "COMMIT") return statement;
    const run = statement.run.bind(statement);
    statement.run = () => {
      seen++;
      const dies = seen === Number(nth);
      if (dies && side === "before") process.kill(process.pid, "SIGKILL");
      const result = run();
      if (dies) process.kill(process.pid, "SIGKILL");
      return result;
    };
    return statement;
  };
}
