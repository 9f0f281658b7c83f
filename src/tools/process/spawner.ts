import { spawn } from "node:child_process";
import { constants, existsSync, mkdtempSync, openSync, rmdirSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { constants as system, tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { groupRuns } from "../../processes/group.ts";
import type { Ending, Kept, Launch, ShellCommand, Spawn, Spawned } from "./spawn.ts";
import { boxedEnding, endHeld, spawnDirectly } from "./spawn.ts";
import { createHandOver, type HandOver } from "./hand-over.ts";
import { attempt } from "../../base/attempt.ts";
import { isHeld, KEEPER, keptEnding } from "./keeper.ts";

/** An argument of a program may have 128 kB; whatever comes near it is started directly, which says what is wrong. */
const MAX_LINE_LENGTH = 30_000;
/** After this time without a command a spawner ends. */
const IDLE_MS = 60_000;
/** After a spawner that did not start, commands are started directly for this long: descriptors may only be short for a while. */
const REST_MS = 10_000;

/**
 * The spawner: a bash that starts commands for Sage, one at a time, and stays as small as it was. Sage writes fields that end in NUL:
 * `run`, folder, line, and, once the group is noted, `go`. The command's own process waits for that `go`, so a command that was not
 * noted never begins; should Sage die, the end of input ends both. Descriptor 3 tells Sage: ready, s<pid> when started, e<code> when ended.
 *
 * A confined command has `confined` in front, its two files and the words of its sandbox, which an empty field ends. The sandbox writes
 * its status to descriptor 3 and waits for one more byte of input. It ends with the spawner, and that with Sage: the end of descriptor 5,
 * which nobody writes to, tells of it.
 *
 * A kept command has `kept` in front, the folder of its entry and its timeout; or `late`, if its keeper may take over later: `keeper.ts` has that part.
 */
const PROGRAM = `
  mkfifo -m 600 -- "$1" "$1.clock" "$1.remark" || exit
  trap 'asked=1' USR1
  trap : PIPE  # Sage may be gone when a command ends: the folder still is to go; commands get back what it was
  exec 2>&3  # there bash says by which signal a command was ended
  if [[ $2 == tied ]]; then
    ( read -r -u 5; kill -KILL $$; rm -rf -- "\${1%/*}" ) </dev/null >/dev/null 3>&- 2>&1 &
    exec 5<&-
    for word in /proc/$$/fd/*; do  # descriptors that Sage itself was given
      word=\${word##*/}
      (( word > 5 && word != 255 )) && eval "exec $word>&-"
    done
  fi
  ${KEEPER}
  pipe=$1
  echo ready >&3
  while IFS= read -r -d '' word; do
    box=()
    if [[ $word == confined ]]; then
      IFS= read -r -d '' args && IFS= read -r -d '' filter || break
      while IFS= read -r -d '' word && [[ -n $word ]]; do box+=("$word"); done
      IFS= read -r -d '' word
    fi
    if [[ $word == late ]]; then
      IFS= read -r -d '' entry && IFS= read -r -d '' seconds && IFS= read -r -d '' blocks && IFS= read -r -d '' word || break
    fi
    if [[ $word == kept ]]; then
      IFS= read -r -d '' entry && IFS= read -r -d '' seconds && IFS= read -r -d '' blocks &&
        IFS= read -r -d '' folder && IFS= read -r -d '' line || break
      keep || break
      continue
    fi
    [[ $word == run ]] || continue  # a "go" for a command that was ended before it began
    IFS= read -r -d '' folder && IFS= read -r -d '' line || break
    set -m     # a process group of its own
    if (( \${#box[@]} )); then
      (
        unset OLDPWD && IFS= read -r -d '' word && [[ $word == go ]] &&
          exec "\${box[@]}" bash --noprofile --norc -c "$line" 6<"$args" 7<&0 8<"$filter" </dev/null
      ) 4<>"$1" >"$1" 4>&- 2>&1 &
    else
      (
        cd -- "$folder" && unset OLDPWD && IFS= read -r -d '' word && [[ $word == go ]] &&
          exec bash --noprofile --norc -c "$line" </dev/null
      ) 3>&- 4<>"$1" >"$1" 4>&- 2>&1 &  # 4: opening a pipe that nobody reads any more would never return
    fi
    set +m     # a command that is only stopped for a while has not ended
    asked=
    echo "s$!" >&3
    wait $!
    code=$?
    if [[ $asked ]]; then
      takes $!
      case $? in 0) continue ;; 1) break ;; esac
      echo n >&3
      while [[ $asked ]]; do  # a wait may have ended with the signal that asked
        asked=
        wait $!
        code=$?
      done
    fi
    echo "e$code" >&3
  done
  rm -rf -- "\${1%/*}"`;

/** Starts commands through spawners: as many as there are commands at the same time. Directly where spawners cannot work. */
export function createSpawner({ restMs = REST_MS } = {}): Spawn {
  const idle: { lane: Lane; env: string; timer: NodeJS.Timeout }[] = [];
  // Elsewhere Node starts processes without a copy of itself.
  let restsUntil = process.platform === "linux" ? 0 : Infinity;

  const laneFor = async (env: NodeJS.ProcessEnv, key: string, tied: boolean): Promise<Lane | undefined> => {
    const at = idle.findLastIndex((held) => held.env === key);
    const [found] = at < 0 ? [] : idle.splice(at, 1);
    clearTimeout(found?.timer);
    if (found && found.lane.isAlive()) return found.lane;
    const lane = await openLane(env, tied).catch(() => undefined);
    if (!lane) restsUntil = performance.now() + restMs;
    return lane;
  };
  const keep = (lane: Lane, env: string) => {
    const retire = () => {
      idle.splice(idle.indexOf(entry), 1);
      lane.close();
    };
    const entry = { lane, env, timer: setTimeout(retire, IDLE_MS).unref() };
    idle.push(entry);
  };

  /** Undefined when no process could be started that keeps the command. */
  const startKept = async (command: ShellCommand): Promise<Spawned | undefined> => {
    if (command.line.includes("\0")) throw new Error("a command cannot hold a NUL character");
    const key = JSON.stringify(command.env);
    for (let tries = 0; tries < 2; tries++) {
      const lane = await laneFor(command.env, key, false);
      const started = await lane?.start(command, () => keep(lane, key));
      if (started) return started;
    }
    return undefined;
  };

  return async ({ kept, ...command }) => {
    const isShort = command.line.length <= MAX_LINE_LENGTH;
    if (kept) {
      const started = isShort || !kept.late ? await startKept({ ...command, kept }) : undefined;
      if (started) return started;
      // Others were told that it is kept.
      if (!kept.late) throw new Error("no process could be started that keeps the command");
    }
    const fits = isShort && !command.line.includes("\0") && existsSync(command.cwd);
    if (!fits || performance.now() < restsUntil) return spawnDirectly(command);
    const tied = command.launch !== undefined;
    const key = `${tied ? "tied" : ""}${JSON.stringify(command.env)}`;
    const lane = await laneFor(command.env, key, tied);
    const started = await lane?.start(command, () => keep(lane, key));
    return started ?? spawnDirectly(command);
  };
}

/** Starts a command with more parts, and adds to what was started. */
export function spawnBetween(
  spawn: Spawn,
  before: (command: ShellCommand) => ShellCommand,
  after: (started: Spawned) => Spawned,
): Spawn {
  return async (command) => after(await spawn(before(command)));
}

type Lane = {
  isAlive(): boolean;
  /** Undefined when the command could not begin: the spawner died, or its pipe is gone. `free` is called when the next command may come. */
  start(command: ShellCommand, free: () => void): Promise<Spawned | undefined>;
  close(): void;
};

/** A lane with a spawner of its own. `tied`: it ends with this process, whatever it runs. Rejects when it cannot be started. */
async function openLane(env: NodeJS.ProcessEnv, tied: boolean): Promise<Lane> {
  const spawner = await startSpawner(env, tied);
  return {
    isAlive: spawner.isAlive,
    close: spawner.close,
    start: (command, free) => startCommand(spawner, command, free),
  };
}

/** A process that starts commands, one at a time. */
type Spawner = {
  pid: number;
  /** Path of the pipe into which commands write. */
  pipe: string;
  input: Writable & Handle;
  isAlive(): boolean;
  /** Hears its reports and its death from now on, in place of the listener before. */
  listen(listener: Listener): void;
  /** While nothing runs, the spawner does not keep this process alive. */
  hold(on: boolean): void;
  close(): void;
};

async function startSpawner(env: NodeJS.ProcessEnv, tied: boolean): Promise<Spawner> {
  const folder = mkdtempSync(join(tmpdir(), "sage-spawner-"));
  const pipe = join(folder, "output");
  const child = spawn("bash", ["--noprofile", "--norc", "-c", PROGRAM, "sage-spawner", pipe, tied ? "tied" : ""], {
    cwd: "/",
    env,
    detached: true, // no terminal to ask on
    stdio: ["pipe", "ignore", "ignore", "pipe", "ignore", tied ? "pipe" : "ignore"],
  });
  let alive = true;
  let hear: Listener = () => {};
  const died = () => {
    alive = false;
    remove(folder, pipe); // it may have been killed
    hear("died");
  };
  child.once("error", died);
  child.once("exit", died);
  // A process has no streams when no descriptors are left; the error comes a little later.
  if (child.pid === undefined) throw new Error("the spawner did not start");
  const input = child.stdio[0] as Writable & Handle;
  const reports = child.stdio[3] as Readable & Handle;
  const life = (child.stdio as unknown[])[5] as (Writable & Handle) | null;
  life?.on("error", () => {});
  life?.unref();
  input.on("error", () => {}); // it died; its exit says so
  readLines(reports, (line) => hear(line));
  const hold = (on: boolean) => [child, input, reports].forEach((handle) => (on ? handle.ref() : handle.unref()));

  await new Promise<void>((resolve, reject) => {
    hear = (line) => (line === "ready" ? resolve() : reject(new Error("the spawner did not start")));
  });
  hold(false);
  return {
    pid: child.pid,
    pipe,
    input,
    isAlive: () => alive,
    listen: (listener) => void (hear = listener),
    hold,
    close() {
      input.end();
      life?.end();
    },
  };
}

/** Starts a command. Undefined when it could not begin. */
async function startCommand(
  { pid: spawnerPid, pipe, input, isAlive, listen, hold, close }: Spawner,
  { line, cwd, noted, launch, kept }: ShellCommand,
  free: () => void,
): Promise<Spawned | undefined> {
  const isRead = !kept || kept.late !== undefined;
  const output = isRead && isAlive() ? openOutput(pipe) : undefined;
  if (!isAlive() || (isRead && !output)) {
    close();
    return undefined;
  }
  hold(true);
  const started = Promise.withResolvers<number | undefined>();
  const ended = Promise.withResolvers<Ending>();
  const late = output && handOverOf(kept, { pipe, output, spawner: spawnerPid, ended: ended.promise });
  let remark = "";
  let isOver = false;
  let isWhole = launch === undefined; // a sandbox that failed may have left its byte unread
  let wasAnswered = false; // before that, the next command would read the answer to this one
  /** Once the command is over and its output read. Somebody who still holds the pipe would write into the next command's output. */
  const settle = () => {
    if (!isOver || !wasAnswered || (output && !output.readableEnded && !output.destroyed)) return;
    output?.off("end", settle).off("close", settle);
    listen(() => {});
    hold(false);
    if (isAlive() && isWhole && (!output || output.readableEnded || late?.isKept())) free();
    else close();
  };
  output?.on("end", settle).on("close", settle);
  listen((said) => {
    if (said === "died") {
      started.resolve(undefined);
      void started.promise.then((pid) => ended.resolve(pid === undefined ? "unknown" : groupEnd(pid)));
      isOver = true;
      late?.refused();
      void ended.promise.then(() => late?.over());
    } else if (/^s\d+$/.test(said)) {
      started.resolve(Number(said.slice(1)));
    } else if (late && said === "k") {
      late.taken();
    } else if (late && said === "n") {
      late.refused();
    } else if (late ? late.isKept() && said.startsWith("e") : kept && said.startsWith("e")) {
      ended.resolve(keptEnding(said.slice(1)));
      isWhole = !isHeld(said);
      isOver = true;
    } else if (/^e\d+$/.test(said)) {
      ended.resolve(launch ? boxedEnding(Number(said.slice(1))) : endingOf(Number(said.slice(1)), remark));
      isOver = true;
      late?.over();
    } else if (launch && said.startsWith("{")) {
      void begin(launch, said, started.promise, input).then((began) => (isWhole ||= began));
    } else {
      remark = said;
    }
    settle();
  });
  input.write([...instruction({ launch, kept }), cwd, line, ""].join("\0"));
  const pid = await started.promise;
  if (pid === undefined) {
    wasAnswered = true;
    output?.destroy();
    return undefined;
  }
  try {
    const begins = await noted(pid, spawnerPid);
    input.write(begins ? "go\0" : "no\0");
    if (begins) late?.begun();
  } catch (error) {
    input.write("no\0");
    output?.destroy();
    throw error;
  } finally {
    wasAnswered = true;
    settle();
  }
  if (output && !late) return { pid, output, ended: ended.promise };
  const letGo = () => {
    listen(() => {});
    ended.resolve("unknown"); // nobody follows its output any more
    hold(false);
    close();
  };
  if (late) return { pid, output: late.output, ended: ended.promise, letGo, isKept: late.isKept };
  return { pid, output: kept!.follow(ended.promise), ended: ended.promise, letGo };
}

/** Undefined for a command without a keeper, or with one from the start. */
function handOverOf(
  kept: Kept | undefined,
  { pipe, output, spawner, ended }: { pipe: string; output: Socket; spawner: number; ended: Promise<Ending> },
): HandOver | undefined {
  const { late } = kept ?? {};
  if (!kept || !late) return undefined;
  const taken = () => late.taken(spawner);
  const ask = () => void attempt(() => process.kill(spawner, "SIGUSR1"));
  return createHandOver(pipe, output, { ...kept, ...late }, { ask, taken, ended });
}

/** The words that tell the spawner how to run a command. */
function instruction({ launch, kept }: { [Key in "launch" | "kept"]: ShellCommand[Key] }): string[] {
  if (kept) {
    const words = [kept.folder, `${kept.timeoutMs / 1_000}`, `${kept.largest / 1_024}`];
    return kept.late ? ["late", ...words, "run"] : ["kept", ...words];
  }
  return launch ? ["confined", launch.args, launch.filter, ...launch.words, "", "run"] : ["run"];
}

/** Lets a confined command begin once its sandbox is as planned, or ends it. */
async function begin(launch: Launch, said: string, started: Promise<number | undefined>, input: Writable) {
  const may = await launch.heard(said);
  const pid = await started;
  if (may === true) input.write("\n");
  if (may === false && pid !== undefined) endHeld(launch.inner(), pid);
  return may === true;
}

type Handle = { ref(): void; unref(): void };
type Listener = (line: string) => void;

/** In steps that need no descriptor: there may be none left. */
function remove(folder: string, pipe: string): void {
  try {
    for (const name of [pipe, `${pipe}.clock`, `${pipe}.remark`]) rmSync(name, { force: true });
    rmdirSync(folder);
  } catch {
    // It is gone already, or is left for whoever tidies up.
  }
}

/** Undefined when it cannot be opened: somebody who tidies up may have removed it. */
function openOutput(pipe: string): Socket | undefined {
  try {
    return new Socket({ fd: openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK), writable: false });
  } catch {
    return undefined;
  }
}

function readLines(reports: Readable, tell: Listener): void {
  let rest = "";
  reports.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(tell);
  });
}

/** After a signal bash gives 128 and its number, and says so in a remark; not for INT, PIPE and TERM, which stay codes as in any shell. */
function endingOf(code: number, remark: string): Ending {
  const [signal] = Object.entries(system.signals).find(([, number]) => number === code - 128) ?? [];
  return signal === undefined || remark === "" ? { code } : { signal: signal as NodeJS.Signals };
}

/** Its spawner is gone: nobody will be told how the command ends, only that it has. */
async function groupEnd(group: number): Promise<"unknown"> {
  while (groupRuns(group)) await sleep(50);
  return "unknown";
}
