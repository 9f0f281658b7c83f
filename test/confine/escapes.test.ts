import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { cannotConfine, confinedPlace, ordinary, own, runInside, type Seen } from "../support/confine.ts";

const skip = await cannotConfine();
const user = ordinary ?? { uid: process.getuid!(), gid: process.getgid!() };
const place = confinedPlace();
const { dir, root, home, state } = place;
const listeners: { close(): unknown }[] = [];

/** Says so when something that must not work has worked. */
const must = (fail: string) => `${fail} && echo ESCAPED`;

/** Attempts do no harm if they succeed: kernel files are opened, never written; nothing is signalled but with 0. */
const attempts: Record<string, string[]> = {
  "write outside of the workspace": [
    must("echo x > /var/escaped"),
    must("echo x > /etc/escaped"),
    must("echo x > /usr/escaped"),
    must("echo x > /escaped"),
    must(`echo x > ${home}/.bashrc; grep -q x ${home}/.bashrc && test -e ${home}/canary`),
  ],
  "read keys and other projects": [
    must(`cat ${home}/.ssh/id`),
    must(`cat ${dir}/other/.env`),
    must(`cat ${root}/link-to-key`),
    must(`cat ${root}/.netrc/../link-to-key`),
    must(`ln -s ${home}/.ssh/id mine && cat mine`),
    must(`ln ${home}/.ssh/id hard && cat hard`),
    must(
      `cat /proc/1/root${home}/.ssh/id || cat /proc/$PPID/root${home}/.ssh/id || cat /proc/self/root${home}/.ssh/id`,
    ),
    must("cat /etc/shadow | grep ."),
    must("cat hidden.env | grep ."),
    must(`ls ${dir} | grep -v -e work -e home`),
  ],
  "reach Sage's own files and sockets": [
    must(`cat ${state}/journal.db | grep .`),
    must(`cat ${state}/settings.json | grep .`),
    must(`ls ${state} | grep .`),
    must(`echo '{}' > ${state}/settings.json; cat ${state}/journal.db`),
    must(
      `node -e 'require("net").connect("${state}/owner.sock").on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))'`,
    ),
  ],
  "connect to sockets of this machine": [
    ...["${DIR}/host.sock", "${ROOT}/work.sock"].map((path) =>
      must(
        `node -e 'require("net").connect("${path}").on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))'`,
      ),
    ),
    must(
      `node -e 'require("net").connect("\\0sage-test-abstract").on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))'`,
    ),
  ],
  "change git's settings and hooks": [
    must("git config core.pager evil"),
    must("echo evil > .git/hooks/pre-commit"),
    must("mv .git .git2"),
    must("rm -rf .git/hooks; test ! -e .git/hooks"),
    must("git add README.md"),
  ],
  "change files that other programs obey": [
    must("echo evil >> AGENTS.md"),
    must("mv AGENTS.md other.md"),
    must("rm -f AGENTS.md; test ! -e AGENTS.md"),
    must("mv .vscode .v; test -e .v"),
    must("echo evil > .vscode/tasks.json"),
    must("echo evil > packages/a/CLAUDE.md"),
  ],
  "reach the network past Sage": [
    must("timeout 2 bash -c 'exec 9<>/dev/tcp/1.1.1.1/80'"),
    must("timeout 2 bash -c 'exec 9<>/dev/udp/1.1.1.1/53 && echo x >&9'"),
    must("timeout 2 getent hosts example.org"),
    must("timeout 2 bash -c 'exec 9<>/dev/tcp/127.0.0.1/${PORT}'"),
    must("curl -sf --max-time 3 -x http://127.0.0.1:3128 http://127.0.0.1:${PORT}/"),
    must("curl -sf --max-time 3 -x socks5h://127.0.0.1:3128 http://localhost:${PORT}/"),
    must("curl -sf --max-time 3 http://unnamed.example/"),
    must("ip link add dummy0 type dummy"),
  ],
  "see or touch other processes": [
    must("grep -qz parent-canary /proc/*/environ"),
    must("kill -0 ${PID}"),
    must("ls /proc | grep -x ${PID}"),
    must("timeout 1 strace -p ${PID} 2>/dev/null; test $? = 124"),
    must("test $(ls /proc | grep -c '^[0-9]*$') -gt 30"),
  ],
  "get privileges back": [
    must("unshare -Ur true"),
    must("unshare -m true"),
    must("su -c true </dev/null"),
    must(
      "grep -q 'CapEff:\\s*0000000000000000' /proc/self/status || true; grep -qv 'CapEff:\\s*0*$' <(grep CapEff /proc/self/status)",
    ),
    must("grep -q 'NoNewPrivs:\\s*0' /proc/self/status"),
    must("mount -o remount,rw /"),
    must("umount ${ROOT}/AGENTS.md"),
    must("mknod /tmp/disk b 8 0"),
    must("test -w /proc/sys/kernel/core_pattern"),
    must('python3 -c \'open("/proc/sys/kernel/core_pattern","a")\''),
    must('python3 -c \'open("/proc/sysrq-trigger","a")\''),
    must("ls /dev/sda /dev/vda /dev/mem 2>/dev/null | grep ."),
  ],
  "leave a file with somebody's rights": [
    ...["chmod u+s bits", "chmod 2755 bits", "chmod g+s .", "install -m 4755 bits more", "mkdir d && chmod 6755 d"].map(
      must,
    ),
    ...[
      'os.fchmod(os.open("bits",2),0o4755)',
      'os.open("made",0o101,0o4755)',
      'os.open(".",0o20200002,0o4755)',
      'os.mknod("made",0o104755)',
    ].map((call) => must(`python3 -c 'import os; ${call}'`)),
    ...["452,-100,b'bits',0o4755,0", "437,-100,b'bits',0,0"].map((given) =>
      must(`python3 -c "import ctypes; exit(ctypes.CDLL(None).syscall(${given})==-1)"`),
    ),
    must("find . -perm /6000 | grep ."),
  ],
  "stop or change the process that ends it": [
    ...[16, 0x4206].map((how) => must(`python3 -c 'import ctypes; exit(ctypes.CDLL(None).ptrace(${how},1,0,0)==-1)'`)),
    must("kill -STOP 1; grep -q '^State:.*[Tt] ' /proc/1/status"),
  ],
  "use what the kernel shares": [
    must("ls /dev/shm | grep ."),
    must("ipcs -m | grep -i sage"),
    must("python3 -c 'import ctypes;exit(0 if ctypes.CDLL(None).syscall(250,0,-3,0)>0 else 1)'"),
    must("python3 -c 'import fcntl,termios;fcntl.ioctl(0,termios.TIOCSTI,b\"x\")'"),
    must("bwrap --dev-bind / / true"),
  ],
  "be run later by somebody else": [
    must("crontab -l"),
    must("echo '* * * * * true' | crontab -"),
    must("systemctl --user status"),
    must("dbus-send --session --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames"),
    must("at -l"),
  ],
};

let seen: Record<string, string>;
let later: Seen[];

before(async () => {
  if (skip !== false) return;
  const files: Record<string, string> = {
    [`${home}/.ssh/id`]: "key-canary",
    [`${home}/canary`]: "x",
    [`${dir}/other/.env`]: "other-canary",
    [`${state}/journal.db`]: "journal-canary",
    [`${state}/settings.json`]: "{}",
    [`${root}/README.md`]: "x",
    [`${root}/bits`]: "x",
    [`${root}/AGENTS.md`]: "x",
    [`${root}/hidden.env`]: "hidden-canary",
    [`${root}/.vscode/settings.json`]: "{}",
    [`${root}/packages/a/CLAUDE.md`]: "x",
    [`${root}/packages/b/CLAUDE.md`]: "x",
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, content);
  }
  symlinkSync(join(home, ".ssh/id"), join(root, "link-to-key"));
  linkSync(join(root, "README.md"), join(root, "twin.md"));
  execFileSync("git", ["init", "-q"], { cwd: root });
  execFileSync("chown", ["-R", `${user.uid}:${user.gid}`, dir]);
  const far = createServer((socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nhi"));
  await once(far.listen(0, "127.0.0.1"), "listening");
  const sockets = [join(dir, "host.sock"), join(root, "work.sock"), join(state, "owner.sock"), "\0sage-test-abstract"];
  const locals = sockets.map((path) => createServer(() => {}).listen(path));
  listeners.push(far, ...locals);
  for (const one of locals) if (!one.listening) await once(one, "listening");
  for (const path of sockets.slice(0, 3)) own(path);
  const known: Record<string, string> = {
    DIR: dir,
    ROOT: root,
    PORT: `${(far.address() as AddressInfo).port}`,
    PID: `${process.pid}`,
  };
  const lines = Object.entries(attempts).map(([name, all]) =>
    [
      `echo "@@ ${name}"`,
      ...all.map(
        (line, n) => `echo "# ${n}"; ( ${line.replace(/\$\{([A-Z]+)\}/g, (_, key: string) => known[key]!)} ) 2>&1`,
      ),
    ].join("\n"),
  );
  // One sandbox for all of them; then one for each thing that only shows afterwards.
  const [first, ...rest] = await runInside({
    ...{ root, home, state },
    commands: [
      { line: `${lines.join("\n")}\ntrue` },
      {
        line: "mkdir .sage && echo '{}' > .sage/settings.json; echo x > .mcp.json; mkdir -p sub && echo x > sub/AGENTS.md; ln -sf README.md GEMINI.md",
      },
      {
        line: "git init -q evil && git -C evil config core.fsmonitor ./x.sh; git init -q fine; cp -r .git sneaky && mv sneaky other.git",
      },
      {
        line: "git config a.b c; echo x > .git/hooks/post-commit; git add README.md && git -c user.name=a -c user.email=b commit -qm one && echo COMMITTED; echo /elsewhere > .git/commondir",
        as: { repository: "write" },
      },
      { line: "(setsid nohup sleep 987 >/dev/null 2>&1 &) ; sleep 0.05; echo x > /tmp/mine; echo y > ~/mine" },
      {
        line: "cat /tmp/mine ~/mine; python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & for i in 1 2 3 4 5 6 7 8 9; do curl -sf http://127.0.0.1:8123/README.md && break; sleep 0.2; done",
      },
      { line: "mv packages/b packages/c && mkdir packages/b && echo evil > packages/b/CLAUDE.md && echo SWAPPED" },
      {
        line: "mkdir locked && echo x > locked/.mcp.json && chmod 555 locked && mkdir free && echo x > free/.mcp.json; mkdir -p node_modules/p shut && echo x > node_modules/p/.mcp.json && echo x > shut/.mcp.json && chmod 000 shut",
      },
      { line: "sleep 0.1; mv node_modules/p p; chmod 700 shut" },
    ],
  });
  const parts = first!.said.split(/^@@ /m).slice(1);
  seen = Object.fromEntries(parts.map((part) => [part.slice(0, part.indexOf("\n")), part]));
  later = rest;
});
after(() => {
  for (const one of listeners) one.close();
  place[Symbol.dispose]();
});

for (const [name, all] of Object.entries(attempts))
  test(`a confined command cannot ${name} (${all.length} ways)`, { skip }, () => {
    const said = seen[name] ?? assert.fail("it did not get that far");
    assert.equal([...said.matchAll(/^# \d+$/gm)].length, all.length, said);
    assert.doesNotMatch(said, /ESCAPED|canary/, said);
  });

test("nothing was written outside, and everything that was guarded is as it was", { skip }, () => {
  for (const path of ["/var/escaped", "/etc/escaped", "/usr/escaped", "/escaped", join(home, ".bashrc")])
    assert.ok(!existsSync(path), path);
  for (const name of ["AGENTS.md", "packages/a/CLAUDE.md"]) assert.equal(readFileSync(join(root, name), "utf8"), "x");
  assert.equal(readFileSync(join(state, "settings.json"), "utf8"), "{}");
});

test("files that other programs would obey are moved aside when the command has ended, at any depth", { skip }, () => {
  const moved = later[0]!.blocked.map((one) => (one.kind === "aside" ? one.path : "")).toSorted();
  assert.deepEqual(
    moved,
    [".mcp.json", ".sage", "GEMINI.md", "sub/AGENTS.md"].map((name) => join(root, name)).toSorted(),
  );
  for (const path of moved) assert.ok(!existsSync(path), path);
});

test(
  "a folder put in the place of another is looked at as a new one, and so is one that was hidden or locked",
  { skip },
  () => {
    assert.match(later[5]!.said, /SWAPPED/);
    assert.ok(!existsSync(join(root, "packages/b/CLAUDE.md")));
    assert.equal(readFileSync(join(root, "packages/c/CLAUDE.md"), "utf8"), "x");
    for (const name of ["locked", "free", "p", "shut"].map((folder) => `${folder}/.mcp.json`))
      assert.ok(!existsSync(join(root, name)), name);
  },
);

test("a new repository that names a program is moved aside, and one that does not stays", { skip }, () => {
  const moved = later[1]!.blocked.map((one) => (one.kind === "aside" ? one.path : ""));
  assert.ok(moved.includes(join(root, "evil/.git")), moved.join());
  assert.ok(existsSync(join(root, "fine/.git/HEAD")));
});

test(
  "with the repository writable a commit works, and neither settings nor hooks nor another common folder",
  { skip },
  () => {
    const { said, blocked } = later[2]!;
    assert.match(said, /COMMITTED/);
    assert.deepEqual(
      blocked.map((one) => (one.kind === "aside" ? one.path : "")),
      [join(root, ".git/commondir")],
    );
    assert.ok(!existsSync(join(root, ".git/hooks/post-commit")));
  },
);

test("nothing outlives the command; home and /tmp are its own and last", { skip }, () => {
  assert.throws(() => execFileSync("pgrep", ["-f", "^sleep 987"]), "a process outlived its command");
  assert.match(later[4]!.said, /^x\ny\n/);
  assert.ok(!existsSync("/tmp/mine") && !existsSync(join(home, "mine")));
  assert.match(later[4]!.said, /x$/, "a server and its client in one command");
});

test(
  "a sandbox whose Sage is killed ends with it, and what it left is looked over by the next one",
  { skip },
  async () => {
    const inside = JSON.stringify({
      root,
      home,
      state,
      commands: [{ line: "echo x > .mcp.json; echo begun > begun; sleep 986" }],
    });
    const child = spawn(process.execPath, [new URL("inside.ts", import.meta.url).pathname], {
      stdio: ["pipe", "ignore", "inherit"],
      env: { PATH: process.env["PATH"], HOME: home },
      ...ordinary,
    });
    child.stdin.end(inside);
    while (!existsSync(join(root, "begun"))) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGKILL");
    await once(child, "exit");
    const lives = () => {
      try {
        return execFileSync("pgrep", ["-f", "^sleep 986"]).length > 0;
      } catch {
        return false;
      }
    };
    while (lives()) await new Promise((resolve) => setTimeout(resolve, 20)); // the time limit of the test ends this
    assert.ok(existsSync(join(root, ".mcp.json")));
    await runInside({ root, home, state, commands: [{ line: "true" }] });
    assert.ok(!existsSync(join(root, ".mcp.json")));
  },
);

test(
  "a home folder that is a link: its tools are there, its secrets are not, and the command writes to one of its own",
  { skip },
  async () => {
    const linked = join(dir, "linked-home");
    symlinkSync(home, linked);
    mkdirSync(join(home, ".nvm"));
    writeFileSync(join(home, ".nvm/tool"), "a tool of mine");
    own(join(home, ".nvm"), join(home, ".nvm/tool"));
    const [seen] = await runInside({
      ...{ root, home: linked, state: join(linked, ".sage") },
      commands: [{ line: `cat ${home}/.ssh/id ${linked}/.ssh/id; echo mine > ~/of-link && cat ~/of-link ~/.nvm/tool` }],
    });
    assert.doesNotMatch(seen?.said ?? "", /key-canary/);
    assert.match(seen?.said ?? "", /^mine\na tool of mine$/m);
    assert.ok(!existsSync(join(home, "of-link")));
  },
);
