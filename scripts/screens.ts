// Draws docs/pictures/screens/*.svg for docs/screens.md: Sage with a scripted model in a real pseudo-terminal. Run with `npm run screens`.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { show, type Shown } from "./terminal-picture.ts";

type Reply = { text?: string; calls?: { tool: string; input: Record<string, unknown> }[] };
type Scene = {
  name: string;
  label: string;
  /** Replies of the agent, or by agent path. */
  script: Reply[] | Record<string, Reply[]>;
  args?: string[];
  /** The person's own. */
  settings?: object;
  /** From the first frame to the one that is drawn. */
  play(screen: Shown): Promise<void>;
  /** Afterwards, in a process of its own. */
  after?: { args: string[]; play(screen: Shown): Promise<void> };
};

const root = join(import.meta.dirname, "..");
const folder = join(root, "docs/pictures/screens");
const bash = (command: string) => ({ tool: "Bash", input: { command } });
const code = `import { price } from "./price.ts";

/** What an order costs, shipping included. */
export function total(order: Order): number {
  const sum = order.items.reduce((all, item) => all + price(item), 0);
  return sum + 4.9;
}
`;

const people = {
  Wang: { ids: [`account:${userInfo().username}`], roles: ["approver"] },
  Li: { ids: ["feishu:ou_1a2b"], roles: ["approver"] },
};

const scenes: Scene[] = [
  {
    name: "start",
    label: "A new session: the editor, and below it the model and the session",
    script: [{ text: "Hello." }],
    play: (screen) => screen.press(/What would you like to do/),
  },
  {
    name: "question",
    label: "The agent asks a question",
    args: ["ship the cart"],
    script: [
      {
        text: "Orders above 50 € could ship for free. That is for you to decide.",
        calls: [
          {
            tool: "AskUserQuestion",
            input: {
              questions: [
                {
                  question: "Should orders above 50 € ship for free, or do all of them pay the same 4.90 €?",
                  header: "Shipping",
                  options: [
                    { label: "Free above 50 €", description: "costs us about 2 % of an order" },
                    { label: "Always 4.90 €", description: "as it is today" },
                  ],
                },
              ],
            },
          },
        ],
      },
    ],
    play: (screen) => screen.press(/Always 4\.90/),
  },
  {
    name: "permission",
    label: "A command that removes files needs permission, and says that it is dangerous",
    args: ["clean up"],
    script: [{ text: "The build folder is old.", calls: [bash("rm -rf dist && npm run build")] }],
    play: (screen) => screen.press(/Allow once/, "1"),
  },
  {
    name: "inquiry",
    label: "A question about the request, and the agent's reply; the request stays open",
    args: ["clean up"],
    script: {
      "": [{ text: "The build folder is old.", calls: [bash("rm -rf dist && npm run build")] }],
      inquiry: [
        {
          text: "dist holds files of modules that are gone, and the build only adds to it. I looked: nothing in there is kept by git.",
        },
      ],
    },
    async play(screen) {
      await screen.press(/Allow once/, "?");
      await screen.press(/Ask about it/, "why not build over it?\r");
      await screen.press(/kept by git/);
    },
  },
  {
    name: "two-people",
    label: "A command that two people have to approve, after the first yes",
    args: ["ship it"],
    settings: { people, permissions: { ask: [{ rule: "Bash(npm publish:*)", approvals: 2 }] } },
    script: [{ text: "Everything is built and tested.", calls: [bash("npm publish --access public")] }],
    async play(screen) {
      await screen.press(/Allow once/, "1", "\r");
      await screen.press(/1 of 2/, "\x12");
      await screen.press(/1 of 2[^]*Allow once/);
    },
  },
  {
    name: "silence",
    label: "A request says what happens without an answer: somebody else is asked, then it is refused",
    args: ["tag the release"],
    settings: { people, silence: { after: "10m", policy: { escalate: ["Li"], end: "deny" } } },
    script: [{ text: "The release needs a tag.", calls: [bash("git tag v1.4.0")] }],
    play: (screen) => screen.press(/If nobody answers[^]*Allow once/, "1"),
  },
  {
    name: "alike",
    label: "Three requests that are alike, listed whole, to be answered with one word",
    args: ["test the parts"],
    script: [
      { text: "Three parts changed.", calls: ["cart", "price", "shipping"].map((part) => bash(`cargo test ${part}`)) },
    ],
    play: async (screen) => {
      await screen.press(/Answer 3 alike/, "4", "\r");
      await screen.press(/Allow all 3 once/);
    },
  },
  {
    name: "past",
    label: "Under “Always allow…”, each rule with what it would have allowed in the past",
    args: ["test the parts"],
    script: [
      { calls: [bash("cargo test cart")] },
      { calls: [bash("cargo test -- --ignored")] },
      { text: "Then without those that call the bank.", calls: [bash("cargo test price")] },
    ],
    async play(screen) {
      await screen.press(/test cart[^]*Allow once/, "1", "\r");
      await screen.press(/--ignored[^]*Allow once/, "3", "\r");
      await screen.press(/test price[^]*Always allow/, "2", "\r");
      await screen.press(/it would have/);
    },
  },
  {
    name: "diff",
    label: "An edit before it is made: numbered, in colours, the words that change underlined",
    args: ["make shipping free above 50"],
    script: [
      { calls: [{ tool: "Read", input: { file_path: "total.ts" } }] },
      {
        text: "Shipping becomes free above 50 €.",
        calls: [
          {
            tool: "Edit",
            input: {
              file_path: "total.ts",
              old_string: "  return sum + 4.9;",
              new_string: "  return sum + (sum > 50 ? 0 : 4.9);",
            },
          },
        ],
      },
    ],
    play: (screen) => screen.press(/Allow once/, "1"),
  },
  {
    name: "plan",
    label: "A plan before anything changes: a yes begins the work",
    args: ["--plan", "make shipping free above 50"],
    script: [
      { calls: [{ tool: "Read", input: { file_path: "total.ts" } }] },
      {
        calls: [
          {
            tool: "ExitPlanMode",
            input: {
              plan: "1. `total.ts`: shipping is 0 for sums above 50 €, else 4.90 €.\n2. A test for 50.00 € and 50.01 €.\n3. Run the tests.",
            },
          },
        ],
      },
    ],
    play: (screen) => screen.press(/Run the tests[^]*1 /),
  },
  {
    name: "rewind",
    label: "Back to before a message: conversation, files or both",
    args: ["--mode", "accept-edits", "make shipping free above 50"],
    script: [
      { calls: [{ tool: "Read", input: { file_path: "total.ts" } }] },
      {
        calls: [
          {
            tool: "Edit",
            input: {
              file_path: "total.ts",
              old_string: "  return sum + 4.9;",
              new_string: "  return sum + (sum > 50 ? 0 : 4.9);",
            },
          },
        ],
      },
      { text: "Shipping is free above 50 €." },
    ],
    async play(screen) {
      await screen.press(/free above 50 €\./, "/rewind\r");
      await screen.press(/make shipping free[^]*make shipping free/);
    },
  },
  {
    name: "background",
    label: "A server runs in the background while the conversation goes on",
    args: ["start the server"],
    settings: { permissions: { allow: ["Bash(node server.mjs)"] } },
    script: [
      { calls: [{ tool: "Bash", input: { command: "node server.mjs", run_in_background: true } }] },
      { text: "The server runs; I read its output when it matters." },
    ],
    async play(screen) {
      await screen.press(/when it matters/, "/tasks\r");
      await screen.press(/server\.mjs[^]*server\.mjs/);
    },
  },
  {
    name: "long-output",
    label: "Long output: how long it is, where it is kept, and its last lines",
    args: ["count to ten thousand"],
    script: [{ calls: [bash("seq 1 10000")] }, { text: "Counted." }],
    play: (screen) => screen.press(/Counted/),
  },
  {
    name: "pager",
    label: "The same output in the pager, after a search",
    args: ["count to ten thousand"],
    script: [{ calls: [bash("seq 1 10000")] }, { text: "Counted." }],
    play: (screen) => screen.press(/Counted/, "\x0f", "/", "7", "7", "7", "7", "\r"),
  },
  {
    name: "error",
    label: "A turn that failed says why, and what can be done",
    args: ["go on"],
    script: [{ calls: [{ tool: "Read", input: { file_path: "missing.ts" } }] }],
    play: (screen) => screen.press(/Turn failed/),
  },
  {
    name: "batch",
    label: "Three requests at once: the first of three",
    args: ["set it up"],
    script: [
      { text: "Three steps.", calls: [bash("npm install zod"), bash("mkdir -p api"), bash("git switch -c shipping")] },
    ],
    play: (screen) => screen.press(/1 of 3[^]*Allow once/),
  },
  {
    name: "resume",
    label: "A session that was killed while it waited is resumed: the request is still there",
    args: ["clean up"],
    script: [{ text: "The build folder is old.", calls: [bash("rm -rf dist")] }],
    play: (screen) => screen.press(/Allow once/),
    after: { args: ["--continue"], play: (screen) => screen.press(/Allow once/) },
  },
];

mkdirSync(folder, { recursive: true });
const wanted = process.argv.slice(2);
for (const scene of scenes) if (wanted.length === 0 || wanted.includes(scene.name)) await paint(scene);
process.exit(0);

async function paint({ name, label, script, args = [], settings = {}, play, after }: Scene): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "sage-screens-"));
  const cwd = join(home, "shop");
  const file = join(tmpdir(), "shop.json"); // its path is on every picture
  mkdirSync(join(cwd, "dist"), { recursive: true });
  writeFileSync(join(cwd, "total.ts"), code);
  writeFileSync(join(cwd, "server.mjs"), 'console.log("listening on 3000"); setTimeout(() => {}, 60_000);\n');
  writeFileSync(file, JSON.stringify(script));
  const sageHome = join(home, ".sage");
  mkdirSync(sageHome, { mode: 0o700 });
  writeFileSync(join(sageHome, "settings.json"), JSON.stringify(settings), { mode: 0o600 });
  const bin = join(home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "cargo"), "#!/bin/sh\necho test result: ok\n");
  chmodSync(join(bin, "cargo"), 0o755);
  const started = (more: readonly string[]) =>
    show([join(root, "src/cli/main.ts"), "--model", `scripted/${file}`, ...more], {
      columns: 84,
      rows: 26,
      cwd,
      env: { PATH: `${bin}:${process.env["PATH"]}`, HOME: home, SAGE_HOME: sageHome, SAGE_LANG: "en", USER: "you" },
    });
  let screen = started(args);
  await play(screen);
  if (after) {
    screen.end();
    screen = started(after.args);
    await after.play(screen);
  }
  writeFileSync(join(folder, `${name}.svg`), screen.draw(label));
  screen.end();
  rmSync(home, { recursive: true, force: true });
  rmSync(file);
}
