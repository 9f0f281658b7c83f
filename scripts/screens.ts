// Draws docs/pictures/screens/*.svg for docs/screens.md: Sage with a scripted model in a real pseudo-terminal. Run with `npm run screens`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { show, type Shown } from "./terminal-picture.ts";

type Reply = { text?: string; calls?: { tool: string; input: Record<string, unknown> }[] };
type Scene = {
  name: string;
  label: string;
  /** Replies of the agent, or by agent path. */
  script: Reply[] | Record<string, Reply[]>;
  args?: string[];
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

async function paint({ name, label, script, args = [], play, after }: Scene): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "sage-screens-"));
  const cwd = join(home, "shop");
  const file = join(tmpdir(), "shop.json"); // its path is on every picture
  mkdirSync(join(cwd, "dist"), { recursive: true });
  writeFileSync(join(cwd, "total.ts"), code);
  writeFileSync(file, JSON.stringify(script));
  const started = (more: readonly string[]) =>
    show([join(root, "src/cli/main.ts"), "--model", `scripted/${file}`, ...more], {
      columns: 84,
      rows: 26,
      cwd,
      env: { PATH: process.env["PATH"], HOME: home, SAGE_HOME: join(home, ".sage"), SAGE_LANG: "en", USER: "you" },
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
