// Preload for a process of Sage that is to meet a fault in its journal: --import this file. The product knows nothing of it: the
// statement COMMIT of node:sqlite is wrapped.
//   KILL_AT=commit:3:before   dies by SIGKILL right before, or after, its third commit
//   KILL_AT=spawn:1:after     dies right after it has started its first program
//   DISK_FULL=<file>          every commit fails as on a full disk while the file is there
import childProcess from "node:child_process";
import { existsSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync, type StatementSync } from "node:sqlite";

const [point, nth, side] = (process.env["KILL_AT"] ?? "").split(":");
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
    const dies = point === "commit" && commits === Number(nth);
    if (dies && side === "before") process.kill(process.pid, "SIGKILL");
    if (full !== undefined && existsSync(full))
      throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
    const result = run();
    if (dies) process.kill(process.pid, "SIGKILL");
    return result;
  };
  return statement;
};

if (point === "spawn") {
  let started = 0;
  const { spawn } = childProcess;
  childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
    const child = spawn(...args);
    if (++started === Number(nth)) process.kill(process.pid, "SIGKILL");
    return child;
  }) as typeof spawn;
  syncBuiltinESMExports();
}
