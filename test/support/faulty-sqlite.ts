// Preload for a process of Sage that is to meet a fault in its journal: --import this file. The product knows nothing of it: the
// statement COMMIT of node:sqlite is wrapped.
//   KILL_AT=commit:3:before   dies by SIGKILL right before, or after, its third commit
//   KILL_AT=spawn:1:after     dies right after it has started its first program
//   KILL_AT=rename:1:before   dies right before, or after, its first call to the disk of this name that writes a file of the workspace:
//                             open, writeFile, chmod, sync, close or rename
//   KILL_AT=link:1:before     dies right before, or after, its first file that is linked into place; copy: that is copied whole
//   KILL_AT=backup:2:after    dies in the midst of a copy of the journal, after the second step, of a few pages each
//   KILL_AT=migration:1:before dies before, or after, it has changed the format of a journal, in the transaction
//   DISK_FULL=<file>          every commit fails as on a full disk while the file is there
import childProcess from "node:child_process";
import files, { existsSync, promises as fs } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import sqlite, { DatabaseSync, type StatementSync } from "node:sqlite";

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

if (point === "migration") {
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql) {
    const dies = sql.startsWith("ALTER TABLE");
    if (dies && side === "before") process.kill(process.pid, "SIGKILL");
    exec.call(this, sql);
    if (dies) process.kill(process.pid, "SIGKILL");
  };
}

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

if (point === "link" || point === "copy") {
  const name = point === "link" ? "linkSync" : "copyFileSync";
  const call = files[name];
  let calls = 0;
  files[name] = (from, to) => {
    const dies = ++calls === Number(nth);
    if (dies && side === "before") process.kill(process.pid, "SIGKILL");
    call(from, to);
    if (dies) process.kill(process.pid, "SIGKILL");
  };
  syncBuiltinESMExports();
}

if (point === "backup") {
  const { backup } = sqlite;
  let steps = 0;
  sqlite.backup = (source, path) =>
    backup(source, path, {
      rate: 2,
      progress: () => void (++steps === Number(nth) && process.kill(process.pid, "SIGKILL")),
    });
  syncBuiltinESMExports();
}

if (point !== undefined && ["open", "writeFile", "chmod", "sync", "close", "rename"].includes(point)) {
  let calls = 0;
  const around = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    const dies = name === point && ++calls === Number(nth);
    if (dies && side === "before") process.kill(process.pid, "SIGKILL");
    const result = await call();
    if (dies) process.kill(process.pid, "SIGKILL");
    return result;
  };
  const { open, rename } = fs;
  const isOurs = (path: unknown) => /\.sage-[^/]*\.tmp$/.test(String(path));
  fs.rename = (from, to) => (isOurs(from) ? around("rename", () => rename(from, to)) : rename(from, to));
  fs.open = async (path, ...rest) => {
    if (!isOurs(path)) return open(path, ...rest);
    const file = await around("open", () => open(path, ...rest));
    for (const name of ["writeFile", "chmod", "sync", "close"] as const) {
      const method = file[name].bind(file) as (...args: unknown[]) => Promise<void>;
      file[name] = ((...args: unknown[]) => around(name, () => method(...args))) as never;
    }
    return file;
  };
  syncBuiltinESMExports();
}
