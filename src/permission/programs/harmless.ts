/** A variable that no program takes a program, a file or an address from, at least not with this value. */
export function isHarmlessAssignment(name: string, value: string | undefined): boolean {
  if (value === undefined) return false;
  if (isHarmlessVariable(name)) return true;
  return name === "NODE_OPTIONS" && /^--max-old-space-size=\d{1,6}$/.test(value);
}

/** Variables that no program takes a program, a file or an address from. Extend with care: most others name one. */
export function isHarmlessVariable(name: string): boolean {
  return name.startsWith("LC_") || harmless.has(name);
}

const harmless = new Set(
  (
    "CI NODE_ENV NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLOR TERM COLUMNS LINES LANG TZ DEBUG VERBOSE LOG_LEVEL " +
    "RUST_BACKTRACE RUST_LOG CARGO_TERM_COLOR CARGO_INCREMENTAL GOOS GOARCH GOARM GOAMD64 CGO_ENABLED GOMAXPROCS " +
    "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUTF8 PYTHONIOENCODING NODE_NO_WARNINGS " +
    "NODE_DISABLE_COLORS UV_THREADPOOL_SIZE RAILS_ENV RACK_ENV MIX_ENV APP_ENV FLASK_DEBUG PORT HUSKY DO_NOT_TRACK " +
    "NEXT_TELEMETRY_DISABLED DOCKER_BUILDKIT BUILDKIT_PROGRESS TF_IN_AUTOMATION GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS"
  ).split(" "),
);

/** Inherited variables that hold no secret. */
export function isPublicVariable(name: string): boolean {
  return isHarmlessVariable(name) || publicNames.has(name);
}

const publicNames = new Set(
  (
    "PATH HOME PWD OLDPWD USER LOGNAME SHELL HOSTNAME HOSTTYPE MACHTYPE OSTYPE UID EUID PPID RANDOM SECONDS LINENO " +
    "BASH_VERSION SHLVL REPLY"
  ).split(" "),
);
