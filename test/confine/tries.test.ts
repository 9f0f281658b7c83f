// A second list by an attacker, beside escapes.test.ts: each try says ESCAPED if it did what it must not.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { cannotConfine, confinedPlace, ordinary, own, runInside, type Seen } from "../support/confine.ts";

const skip = await cannotConfine();
const user = ordinary ?? { uid: process.getuid!(), gid: process.getgid!() };
const place = confinedPlace();
const { dir, root, home, state } = place;
const listeners: { close(): unknown }[] = [];

const must = (fail: string) => `${fail} && echo ESCAPED`;
const call = (...given: (number | string)[]) =>
  must(`python3 -c "import ctypes; exit(ctypes.CDLL(None).syscall(${given.join()})==-1)"`);
const opens = (path: string, flags = "os.O_RDWR") => must(`python3 -c 'import os; os.open("${path}",${flags})'`);
const connects = (address: string) =>
  must(
    `node -e 'require("net").connect(${address}).on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))'`,
  );
const fetches = (url: string, proxy = "http://127.0.0.1:3128") =>
  must(`curl -sf --max-time 3 -x ${proxy} '${url}' | grep reached`);
const reaches = (host: string) => must(`timeout 2 bash -c 'exec 9<>/dev/tcp/${host}/\${PORT}'`);

const reading: Record<string, string[]> = {
  "use descriptors of others": [
    must("for n in $(seq 3 254); do { true >&$n || true <&$n; } 2>/dev/null && exit 0; done; exit 1"),
    must("python3 -c 'import os\nfor n in range(3,300):\n try: os.fchdir(n); exit(0)\n except OSError: pass\nexit(1)'"),
    must(
      "find /proc/[0-9]*/fd -lname '/*' ! -lname '/dev/*' ! -lname '/proc/*' 2>/dev/null | while read f; do readlink $f; done | grep '^/' | grep -v -e '^${ROOT}' -e '/output$'",
    ),
    must(
      "python3 -c 'import ctypes\nc=ctypes.CDLL(None).syscall\np=c(434,1,0)\nexit(0 if p>=0 and any(c(438,p,n,0)>=0 for n in range(3,64)) else 1)'",
    ),
    must("cat /proc/1/cwd${STATE}/journal.db"),
    must("exec 7<AGENTS.md; echo evil > /proc/self/fd/7"),
    must("exec 7<.git; echo evil > /proc/self/fd/7/config"),
    must("exec 7<..; ls /proc/self/fd/7/other"),
    must("cd ..; cat other/.env; cat $OLDPWD/../other/.env"),
  ],
  "change the process that ends it, by other doors": [
    opens("/proc/1/mem"),
    call(310, 1, 0, 0, 0, 0, 0) + "; true",
    must("echo 0 > /proc/1/oom_score_adj; echo x > /proc/1/comm"),
    must("prlimit --pid 1 --nofile=10"),
    must("kill -9 1; sleep 0.05; ! kill -0 1"),
    must("grep -qz parent-canary /proc/1/environ"),
  ],
  "leave its namespaces": [
    ...["-m", "-n", "-p", "-U", "-i", "-u", "-C"].map((which) => must(`nsenter -t 1 ${which} true`)),
    ...["-n", "-p -f", "-i", "-u", "-C", "-T"].map((which) => must(`unshare ${which} true`)),
    call(272, "0x10000000"),
    call(56, "0x10000011", 0, 0, 0, 0),
    must("chroot . /bin/true"),
    call(155, "b'.'", "b'.'"),
    must("mount --bind /tmp ${ROOT}/.git"),
    must("mount -t tmpfs x /mnt"),
    call(430, "b'tmpfs'", 0),
    call(428, -100, "b'/'", 1),
    call(442, -100, "b'/'", 0, 0, 0),
    call(166, "b'/tmp'", 2),
    must("echo 0 1000 1 > /proc/self/uid_map"),
    must("setpriv --ambient-caps +sys_admin --inh-caps +sys_admin true"),
    must("sudo -n true"),
    must("newuidmap $$ 0 0 1"),
  ],
  "use calls of the kernel that nobody needs": [
    ...[
      [304, -100, 0, 0],
      [321, 0, 0, 0],
      [323, 0],
      [425, 1, 0],
      [248, "b'user'", "b'x'", "b'y'", 1, -3],
      [246, 0, 0, 0, 0],
      [175, 0, 0, 0],
      [313, 0, 0, 0],
      [169, 0, 0, 0, 0],
    ].map((given) => call(...given)),
    call("0x40000000+39"),
    ...["/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/tty", "/dev/mem", "/dev/loop-control"].map((path) =>
      opens(path),
    ),
    opens("/proc/sys/kernel/ns_last_pid", "os.O_WRONLY"),
    opens("/sys/kernel/uevent_helper", "os.O_WRONLY"),
    must("mkdir /sys/fs/cgroup/mine"),
    must("mknod null c 1 3"),
  ],
  "reach hosts by other names and families": [
    ...["0.0.0.0", "::1", "127.0.0.2", "::ffff:127.0.0.1", "localhost"].map(reaches),
    ...["[::ffff:127.0.0.1]", "2130706433", "0x7f000001", "127.1", "localhost.", "[::1]", "0.0.0.0"].map((host) =>
      fetches(`http://${host}:\${PORT}/`),
    ),
    fetches("http://127.0.0.1:${PORT}/", "socks4a://127.0.0.1:3128"),
    fetches("https://127.0.0.1:${PORT}/"),
    must(
      "printf 'CONNECT 127.0.0.1:${PORT} HTTP/1.1\\r\\nHost: allowed.example:443\\r\\n\\r\\n' | timeout 2 bash -c 'exec 9<>/dev/tcp/127.0.0.1/3128; cat >&9; head -1 <&9' | grep ' 200'",
    ),
    must(
      "printf 'GET http://allowed.example/ HTTP/1.1\\r\\nHost: 127.0.0.1:${PORT}\\r\\n\\r\\n' | timeout 2 bash -c 'exec 9<>/dev/tcp/127.0.0.1/3128; cat >&9; cat <&9' | grep reached",
    ),
    must("python3 -c 'import socket; socket.socket(17,3,768)'"),
    must("python3 -c 'import socket; s=socket.socket(40,1); s.settimeout(1); s.connect((2,22))'"),
    connects('"/run/dbus/system_bus_socket"'),
    connects('"\\0/tmp/.X11-unix/X0"'),
    connects('"/var/run/docker.sock"'),
    must('python3 -c \'import socket; s=socket.socket(1,2); s.sendto(b"x","/run/systemd/notify")\''),
  ],
  "change guarded files by other doors": [
    ...[": >", "truncate -s0", "chmod 000", "ln", "cp /dev/null", "dd of="].map((how) =>
      must(how === "ln" ? "ln AGENTS.md twin && echo evil >> twin" : `${how}${how.endsWith("=") ? "" : " "}AGENTS.md`),
    ),
    must(`python3 -c 'import ctypes; exit(ctypes.CDLL(None).syscall(316,-100,b"AGENTS.md",-100,b"README.md",2)!=0)'`),
    must("ln -sf README.md AGENTS.md"),
    must("mv -f README.md AGENTS.md"),
    must('python3 -c \'import os; os.setxattr("AGENTS.md","user.x",b"y")\''),
    must("rm -rf packages; test ! -e packages/a/CLAUDE.md"),
    must("mv .vscode/settings.json x"),
    must("echo evil > packages/../.vscode/settings.json"),
    must("python3 -c 'import os; os.utime(\"AGENTS.md\",(0,0))'"),
    must("mv ${ROOT} ${DIR}/elsewhere"),
    must("ls /root /srv /mnt /home 2>/dev/null | grep -v ':$' | grep ."),
  ],
};

const writing: Record<string, string[]> = {
  "give the repository settings, where it may write to it": [
    ...["git config a.b c", "git config --worktree a.b c", "git remote add x y", "git config -f .git/config a.b c"].map(
      must,
    ),
    ...["git sparse-checkout set src", "git submodule add ./sub x", "git branch --edit-description other"].map(must),
    must("echo '* filter=x' > .git/info/attributes"),
    must("echo x > .git/hooks/post-checkout"),
    must("mv .git/hooks .git/h2"),
    must("rm -f .git/config; test ! -e .git/config"),
    must("ln -sfn ../h .git/hooks && test -L .git/hooks"),
    must("chmod +x .git/hooks/pre-commit.sample"),
    must("mv .git g2"),
    must("cp README.md .git/config.worktree && git config extensions.worktreeConfig true"),
    must("git init --template=sub . && test -e .git/hooks/evil"),
  ],
};

const all = [...Object.values(reading), ...Object.values(writing)].flat();
let seen: Record<string, string> = {};
let ended: Seen[];

before(async () => {
  if (skip !== false) return;
  const files: Record<string, string> = {
    [`${dir}/other/.env`]: "other-canary",
    [`${state}/journal.db`]: "journal-canary",
    [`${root}/README.md`]: "x",
    [`${root}/AGENTS.md`]: "x",
    [`${root}/.vscode/settings.json`]: "{}",
    [`${root}/packages/a/CLAUDE.md`]: "x",
    [`${root}/sub/hooks/evil`]: "x",
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, content);
  }
  execFileSync("chown", ["-R", `${user.uid}:${user.gid}`, dir]);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: root, ...ordinary });
  git("init", "-q", "-b", "main");
  git("commit", "-qm", "one", "--allow-empty");
  git("branch", "other");
  const far = createServer((socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nreached"));
  await once(far.listen(0, "::"), "listening");
  listeners.push(far);
  own(root);
  const known: Record<string, string> = {
    DIR: dir,
    ROOT: root,
    STATE: state,
    PORT: `${(far.address() as AddressInfo).port}`,
  };
  const lines = (tries: Record<string, string[]>) =>
    Object.entries(tries)
      .map(([name, some]) =>
        [
          `echo "@@ ${name}"`,
          ...some.map(
            (line, n) => `echo "# ${n}"; ( ${line.replace(/\$\{([A-Z]+)\}/g, (_, key: string) => known[key]!)} ) 2>&1`,
          ),
        ].join("\n"),
      )
      .join("\n");
  ended = await runInside({
    ...{ root, home, state },
    commands: [
      { line: `${lines(reading)}\ntrue`, allowed: ["allowed.example"] },
      { line: `${lines(writing)}\ntrue`, as: { repository: "write" } },
    ],
  });
  const parts = ended.flatMap(({ said }) => said.split(/^@@ /m).slice(1));
  seen = Object.fromEntries(parts.map((part) => [part.slice(0, part.indexOf("\n")), part]));
});
after(() => {
  for (const one of listeners) one.close();
  place[Symbol.dispose]();
});

for (const [name, some] of Object.entries({ ...reading, ...writing }))
  test(`a confined command cannot ${name} (${some.length} ways)`, { skip }, () => {
    const said = seen[name] ?? assert.fail(`it did not get that far: ${JSON.stringify(ended).slice(0, 2_000)}`);
    assert.equal([...said.matchAll(/^# \d+$/gm)].length, some.length, said);
    const escaped = some.filter((_, n) => /ESCAPED|canary/.test(said.split(/^# \d+$/m)[n + 1] ?? ""));
    assert.deepEqual(escaped, [], said);
  });

test("what was guarded is as it was", { skip }, () => {
  for (const name of ["AGENTS.md", "packages/a/CLAUDE.md"]) assert.equal(readFileSync(join(root, name), "utf8"), "x");
  assert.equal(readFileSync(join(root, ".vscode/settings.json"), "utf8"), "{}");
  assert.ok(!existsSync(join(root, ".git/hooks/evil")));
  assert.doesNotMatch(readFileSync(join(root, ".git/config"), "utf8"), /evil|a\.b|\[remote/);
  assert.ok(all.length >= 100, `${all.length} tries`);
});
