import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Machine, asks, bash } from "../support/cli.ts";

const secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].join("");
const hostile = [
  `</title></pre></script><script>document.title="hacked"</script>`,
  `<img src=x onerror="document.title='hacked'">`,
  `"><svg/onload=document.title='hacked'>`,
  `<style>body{display:none}</style><meta http-equiv="refresh" content="0;url=https://example.com/">`,
  `<link rel=stylesheet href="https://example.com/x.css"><iframe src="https://example.com/"></iframe>`,
  `\u202ereversed\u202c <!-- <base href="https://example.com/">`,
].join("\n");

/** A session with something hostile and something secret in every place that text can come from. */
async function written(here: Machine): Promise<void> {
  const model = here.script(
    {
      reasoning: `thinking ${hostile}`,
      text: `I will ${hostile}`,
      calls: [
        bash(`printf '%s' "$NOT_THERE" '${hostile.replaceAll("'", "’")}' ${secret}`),
        asks({ question: "<b>Sure?</b>", labels: ["<i>yes</i>", "no"], header: "<u>x</u>" }),
        { tool: "<script>", input: { [hostile]: hostile } },
      ],
    },
    { text: `完成 ${hostile}` },
  );
  const env = { SOME_API_KEY: "v3ry-s3cret-value" };
  const said = `${hostile}\npassword=hunter2hunter2 v3ry-s3cret-value`;
  assert.equal((await here.sage(["-p", said, "--model", model], { env })).code, 3);
  for (const { id, kind } of await here.pending()) {
    const { code } =
      kind === "permission"
        ? await here.allows(id, "--comment", hostile)
        : await here.sage(["answer", id, "--other", `mine ${hostile}`]);
    assert.equal(code, 0);
  }
  assert.equal((await here.sage(["-p", "--continue"])).code, 0);
}

test("export: facts as JSON lines and a page, for other eyes", async (t) => {
  using here = new Machine();
  await written(here);
  const env = { SOME_API_KEY: "v3ry-s3cret-value" };
  const { out, err } = await here.sage(["export"], { env });
  const facts = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; seq: number });
  assert.equal(facts[0]?.type, "session.opened");
  assert.equal(facts.at(-1)?.type, "turn.ended");
  assert.deepEqual(
    facts.map(({ seq }) => seq),
    facts.map(({ seq }) => seq).toSorted((a, b) => a - b),
  );
  for (const gone of ["16C7e42F", "hunter2", "v3ry-s3cret", Buffer.from("v3ry-s3cret-value").toString("base64")])
    assert.ok(!out.includes(gone), `${gone} left the state directory`);
  assert.match(err, /\d+ secrets removed/);

  const file = join(here.dir, "page.html");
  assert.match((await here.sage(["export", "-o", file], { env })).err, /saved to .*page\.html/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const page = readFileSync(file, "utf8");
  assert.doesNotMatch(page, /16C7e42F|hunter2|v3ry-s3cret/);
  assert.doesNotMatch(page, /<script|<img|<svg|<iframe|<link|<base|\u202e/i);
  assert.match((await here.sage(["export", "--format", "html", "--lang", "zh"])).out, /第 1 轮/);
  assert.equal((await here.sage(["export", "--format", "pdf"])).code, 2);
  assert.equal((await here.sage(["export", "nope"])).code, 2);

  await t.test("in a real browser nothing of it runs, loads or breaks out", async (browsing) => {
    const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
      existsSync,
    );
    if (executablePath === undefined) return browsing.skip("no Chromium on this machine: the page was not looked at");
    const { chromium } = await import("playwright-core");
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
    try {
      const tab = await browser.newPage();
      const wanted: string[] = [];
      const complaints: string[] = [];
      tab.on("request", (request) => wanted.push(request.url()));
      tab.on("console", (message) => complaints.push(message.text()));
      tab.on("dialog", (dialog) => void dialog.dismiss());
      const url = pathToFileURL(file).href;
      const paper: string[] = [];
      for (const colorScheme of ["light", "dark"] as const) {
        await tab.emulateMedia({ colorScheme });
        await tab.goto(url);
        paper.push(await tab.evaluate<string>("getComputedStyle(document.body).backgroundColor"));
      }
      assert.deepEqual(new Set(wanted), new Set([url]), "it asks for nothing but itself");
      assert.deepEqual(complaints, [], "the policy found nothing to refuse");
      assert.notEqual(paper[0], paper[1]);
      assert.doesNotMatch(await tab.title(), /^hacked$/);
      assert.equal(await tab.locator("script, img, svg, iframe, link, base, form").count(), 0);
      assert.equal(await tab.locator("style").count(), 1);
      assert.equal(await tab.locator("main section.call").count(), 3);
      const text = await tab.locator("main").innerText();
      for (const shown of ["I will </title>", "完成", "mine </title>", "<b>Sure?</b>", "Sure?"])
        assert.ok(text.includes(shown), `${shown} is to be read`);
      await tab.setViewportSize({ width: 360, height: 700 });
      assert.ok(await tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), "fits a phone");
    } finally {
      await browser.close();
    }
  });
});

test("the page says of a refused call that it was refused, and of a rule that was not saved that it holds in the session", async () => {
  using here = new Machine();
  const model = here.script({ calls: [bash("env echo one"), bash("env echo two")] }, { text: "done" });
  assert.equal((await here.sage(["-p", "go", "--model", model])).code, 3);
  const [one, two] = await here.pending();
  assert.ok(one && two);
  assert.equal((await here.sage(["answer", one.id, "--always", "--to", "local"])).code, 0);
  assert.equal((await here.sage(["answer", two.id, "--no"])).code, 0);
  // Meanwhile the project brings settings, which nobody has trusted.
  mkdirSync(join(here.cwd, ".sage"));
  writeFileSync(join(here.cwd, ".sage", "settings.json"), JSON.stringify({ permissions: { allow: ["Bash(x)"] } }));
  assert.equal((await here.sage(["-p", "--continue"])).code, 0);
  const { out } = await here.sage(["export", "--format", "html"]);
  assert.match(out, /<span class="refused-by-person">refused by a person<\/span>/);
  assert.doesNotMatch(out, /<span class="failed">failed|Rule saved/);
  assert.match(out, /Rule added for this session only: Bash\(.*not trusted/);
  for (const command of [["export", "--format", "html"], ["why"]]) {
    const chinese = (await here.sage([...command, "--lang", "zh"])).out;
    assert.match(chinese, /没有规则允许这条命令[^]*设置未受信任/);
    assert.doesNotMatch(chinese, /No rule allows|not trusted/);
  }
});
