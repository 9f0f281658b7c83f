// Pictures: kept as files before the fact that names them, and given to the model from there.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { collectOutput } from "../../src/archive/output.ts";
import { deleteSession, forkSession } from "../../src/archive/sessions.ts";
import { keptFor } from "../../src/config/output-folder.ts";
import { createAgent } from "../../src/host/assembly/agent.ts";
import { assembleEach } from "../../src/host/assembly/assemble.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { ModelRequest } from "../../src/models/model.ts";
import { scripted } from "../../src/models/scripted.ts";
import { imageFile, type ImagePart } from "../../src/protocol/image.ts";
import { sentence } from "../../src/texts/shared/sentence.ts";
import { keepImage } from "../../src/tools/content/image.ts";
import { pixel } from "../support/picture.ts";
import { allow, sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";
import { wordsOf } from "../support/worded.ts";

const lin = { by: "Lin", surface: "test" };
const sha256 = createHash("sha256").update(pixel).digest("hex");
const part: ImagePart = { type: "image", mime: "image/png", sha256, bytes: pixel.length, name: "shot.png" };
const given = { name: "/tmp/folder/shot.png", data: pixel.toString("base64") };

suite("a picture in a message", () => {
  test("is a file of its owner alone, is only named in the fact, and reaches the model", async () => {
    using here = workspace();
    const seen: (string | undefined)[] = [];
    const look = ({ messages, image }: ModelRequest) => {
      const [first] = messages;
      for (const one of (first?.role === "user" && first.images) || []) seen.push(image?.(one));
      return { text: "ok" };
    };
    await using sage = await sageWith({ script: [look, look, look], dir: here.dir });
    const { session } = sage;
    const reply = await sage.host.send({ type: "say", session, text: "这是什么？", images: [given, given], ...lin });
    assert.ok(reply.ok);
    await sage.outcome();
    const said = sage.facts().find(({ type }) => type === "user.said");
    assert.deepEqual(said?.data, { text: "这是什么？", images: [part, part], ...lin });
    const path = here.path(imageFile(part));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(seen, [given.data, given.data]);

    // Changed or gone since: said in words, never sent as if it were the same.
    writeFileSync(path, "something else");
    await sage.say("again");
    await sage.outcome();
    rmSync(path);
    await sage.say("again");
    await sage.outcome();
    assert.deepEqual(seen.slice(2), [undefined, undefined, undefined, undefined]);
  });

  test("is refused by its first bytes and by its size, and then nothing is said", async () => {
    using here = workspace();
    await using sage = await sageWith({ script: [], dir: here.dir });
    const say = async (images: { name: string; data: string }[]) => {
      const reply = await sage.host.send({ type: "say", session: sage.session, text: "", images, ...lin });
      return reply.ok ? "said" : wordsOf(reply);
    };
    const text = Buffer.from("not a picture").toString("base64");
    assert.equal(
      await say([given, { name: "x.png", data: text }]),
      "x.png is no picture in PNG, JPEG, GIF or WebP format",
    );
    const large = Buffer.concat([pixel, Buffer.alloc(3_700_000)]).toString("base64");
    assert.equal(
      await say([{ name: "large.png", data: large }]),
      "large.png is a picture of 3.7 MB; pictures may have 3.7 MB",
    );
    assert.equal(
      await say(Array.from({ length: 21 }, () => given)),
      "a message may have 20 pictures, and this one has 21",
    );
    assert.equal(await say([]), "the message is empty");
    assert.equal(sage.facts().filter(({ type }) => type === "user.said").length, 0);
  });

  test("that cannot be kept is said to be so", () => {
    using here = workspace();
    writeFileSync(here.path("file"), "");
    const kept = keepImage(here.path("file/folder"), { name: "shot.png", content: pixel });
    assert.match(
      "problem" in kept ? sentence(kept.problem, "en") : "",
      /^the picture shot.png could not be saved: ENOTDIR/,
    );
  });
});

test("Read of a picture gives it to the model, whatever its name", async () => {
  using here = workspace();
  writeFileSync(here.path("photo.txt"), pixel);
  writeFileSync(here.path("broken.png"), "\0\0nothing");
  let results: unknown;
  await using sage = await sageWith({
    script: [
      {
        calls: ["photo.txt", "broken.png"].map((file) => ({ tool: "Read", input: { file_path: here.path(file) } })),
      },
      ({ messages }) => {
        const last = messages.at(-1);
        results = last?.role === "tool" ? last.results.map(({ result }) => [result.text, result.images]) : undefined;
        return { text: "seen" };
      },
    ],
    dir: here.dir,
    rules: [allow("Read")],
  });
  await sage.say("look");
  await sage.outcome();
  assert.deepEqual(results, [
    [`(${here.path("photo.txt")} is a picture: photo.txt, 1 kB)`, [{ ...part, name: "photo.txt" }]],
    [
      `${here.path("broken.png")} is a binary file (9 bytes). Read shows text, pictures in PNG, JPEG, GIF or WebP format, and the text of a PDF.`,
      undefined,
    ],
  ]);
});

test("a fork has its own copy, collecting leaves what a fact names, deleting takes the files along", async () => {
  using here = workspace();
  const store = sqliteStore(here.path("journal.db"));
  const output = here.path("output");
  const model = async () => scripted([{ text: "one" }]);
  const agent = createAgent({ model, rules: [], permissionMode: "default", env: {}, output });
  let ended = 0;
  const host = assembleEach(store, () => ({ agent, options: {} }), { turnEnded: () => void ended++ });
  await host.send({ type: "open", session: "first", cwd: here.dir });
  await host.send({ type: "say", session: "first", text: "look", images: [given], ...lin });
  await until(() => ended === 1, "the turn to end");
  const file = (session: string) => join(keptFor(output, session), imageFile(part));
  assert.deepEqual(readFileSync(file("first")), pixel);

  const fork = await forkSession(store, "first", undefined, { ...lin, output });
  const stray = join(keptFor(output, "first"), `${"0".repeat(64)}.png`);
  writeFileSync(stray, pixel);
  assert.deepEqual(await collectOutput(store, output, { now: Date.now() + 7_200_000 }), {
    files: 1,
    bytes: pixel.length,
  });
  assert.equal(existsSync(stray), false);
  await until(() => !store.session("first")?.owned, "the session to be let go");
  await deleteSession(store, { settings: here.path("settings.json"), output }, "first", lin);
  assert.equal(existsSync(file("first")), false);
  assert.deepEqual(readFileSync(file(fork)), pixel);
  await host.close();
});
