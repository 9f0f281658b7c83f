// Preload for a process of Sage that is to meet a fault in its journal: --import this file. The product knows nothing of it: the
// statement COMMIT of node:sqlite is wrapped.
//   KILL_AT=commit:3:before   dies by SIGKILL right before, or after, its third commit
//   DISK_FULL=<file>          every commit fails as on a full disk while the file is there
import { existsSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";

const [, nth, side] = (process.env["KILL_AT"] ?? "").split(":");
const full = process.env["DISK_FULL"];
delete process.env["KILL_AT"]; // programs that it starts live
let commits = 0;

const { prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql, ...rest): StatementSync {
  const statement = prepare.call(this, sql, ...rest);
  if (sql !== "COMMIT") return statement;
  const run = statement.run.bind(statement);
  statement.run = () => {
    commits++;
    const dies = commits === Number(nth);
    if (dies && side === "before") process.kill(process.pid, "SIGKILL");
    if (full !== undefined && existsSync(full))
      throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
    const result = run();
    if (dies) process.kill(process.pid, "SIGKILL");
    return result;
  };
  return statement;
};
