import type { Ending } from "./spawn.ts";
import { constants as system } from "node:os";

const MAX_REST_BYTES = 128 * 1024;
const GRACE_S = 2;

/**
 * The part of a spawner that makes it the keeper of a command. It leaves output and end in the folder of the command's entry, ends what the
 * command left behind, and the command itself when its time is up, and outlives Sage until then. It stands in that folder, which may be
 * given another name meanwhile.
 *
 * It may also take over a command that runs already: Sage, which reads the output itself until then, makes the entry with what it has read
 * and sends SIGUSR1 until it is answered: a signal just before bash waits does not wake it. The answer is `k` on descriptor 3, or `n`. Most commands end before: they cost nothing more than without a keeper.
 *
 * `begun` is made once: by the command as it begins, or by somebody who wants that it never does. The end is told by a name, which takes
 * next to no room on a full disk, and none if another name is given up for it.
 */
export const KEEPER = `
  nap() { read -r -t "$1" <>"$pipe.clock"; }
  runs() {
    kill -0 -- "-$pid" 2>/dev/null || return
    local stat
    for stat in /proc/[0-9]*/stat; do  # the dead that nobody has reaped take signals too
      { IFS= read -r stat <"$stat"; } 2>/dev/null || continue
      stat=(\${stat##*) })
      [[ \${stat[2]} == "$pid" && \${stat[0]} != Z ]] && return
    done
    return 1
  }
  copies() {
    set -m
    (
      exec 3>&- 4>&- 8>&- 9>&-
      trap '' XFSZ
      ulimit -f "$blocks"
      cat >>output || tail -c ${MAX_REST_BYTES} >rest
    ) <"$pipe" 2>/dev/null &
    copier=$!
    set +m
  }
  times() {
    (
      exec 3>&- 4>&- 7<"$pipe.clock" 8>&-  # 9 stays: the names of the pipes go with the keeper
      SECONDS=0
      # The end of the pipe tells that the keeper was killed: then this shell sees to the time, and leaves with the command.
      read -r -t "$seconds" -u 7 || (( $? > 128 )) || while (( SECONDS < \${seconds%.*} )) && runs; do read -t 1 -u 9; done
      runs || exit  # its number may be somebody else's by now
      : >late
      kill -TERM -- "-$pid"
      read -t ${GRACE_S} -u 9
      runs && kill -KILL -- "-$pid"
    ) </dev/null >/dev/null 2>&1 &
    timer=$!
  }
  keep() {
    local pid copier timer code end=code n naps
    cd -- "$entry" || exit
    exec 4<>"$pipe" 9<>"$pipe.remark"
    copies
    set -m
    (
      IFS= read -r -d '' word && [[ $word == go ]] && set -C && : >begun && set +C &&
        cd -- "$folder" && unset OLDPWD && exec bash --noprofile --norc -c "$line" </dev/null
      exit 125
    ) 3>&- >"$pipe" 4>&- 9>&- 2>&1 &
    pid=$!
    set +m
    exec 4>&- 8<>"$pipe.clock"
    times
    echo "s$pid" >&3
    waits
  } 2>/dev/null
  takes() {
    local pid=$1 copier timer code end=code n naps
    trap '' USR1  # Sage asks until it is answered
    cd -- "$entry" || { trap 'asked=1' USR1; return 2; }
    exec 4<>"$pipe" 8<>"$pipe.clock" 9<>"$pipe.remark"  # 4 stays until the end: the command may not have opened the pipe yet
    copies
    times
    echo k >&3
    waits
    code=$?
    trap 'asked=1' USR1
    return "$code"
  } 2>/dev/null
  waits() {
    { wait "$pid"; } 2>&9
    code=$?
    exec 4>&-
    kill -KILL "$timer"
    wait "$timer"
    read -t 0 -u 9 && read -r -u 9 && end=signal
    exec 8>&- 9>&-
    end=$end.$code
    [[ -e late ]] && end=late
    if runs; then
      end=$end.left
      kill -TERM -- "-$pid"
      for (( n = 0; n < ${GRACE_S} * 20; n++ )); do runs || break; nap 0.05; done
      kill -KILL -- "-$pid"
    fi
    # A process that left the group may hold the pipe for as long as it likes; nobody waits for it.
    naps=(0.001 0.002 0.004 0.008 0.015 0.03 0.06 0.12 0.24 0.5 1)
    for n in "\${naps[@]}"; do kill -0 "$copier" || break; nap "$n"; done
    kill -KILL -- "-$copier" && end=$end.held
    [[ -e begun ]] && { : >"ended.$end" || mv -- begun "ended.$end"; }
    echo "e$end" >&3
    cd /
    [[ $end != *.held ]]
  }`;

/** The end as a keeper tells it: `code.3`, `signal.137`, `late`, with `.left` when it had left processes behind. */
export function keptEnding(told: string): Ending {
  const [how, number = ""] = told.split(".");
  const left = told.includes(".left") && ({ left: true } as const);
  if (how === "late") return { late: true };
  const code = Number(number);
  const [signal] = Object.entries(system.signals).find(([, number]) => number === code - 128) ?? [];
  if (how === "signal" && signal !== undefined) return { signal: signal as NodeJS.Signals, ...left };
  return how === "code" && number !== "" ? { code, ...left } : "unknown";
}

/** True when a process that left the command's group still holds the pipe: the keeper ends, and the next command has another. */
export function isHeld(told: string): boolean {
  return told.includes(".held");
}
