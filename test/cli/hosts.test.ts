import assert from "node:assert/strict";
import { test } from "node:test";
import { sageHome } from "../../src/config/home/home.ts";
import { readSettings } from "../../src/config/settings/settings.ts";
import { nameHost, targetOf } from "../../src/cli/host/paired-hosts.ts";
import { workspace } from "../support/sage.ts";

test("a host is named once, by its own name or the person's, and never in another one's place", () => {
  using here = workspace();
  const home = sageHome({ SAGE_HOME: here.path("home") });
  const named = () => readSettings(home.settings).hosts;
  assert.equal(nameHost("https://box.example:8787", home), "box.example");
  assert.equal(nameHost("https://box.example:8787", home), "box.example");
  assert.equal(nameHost("https://box.example:9000", home), "box.example-9000", "the short name is another one's");
  assert.equal(nameHost("https://box.example:9000", home, "second"), "second");
  assert.equal(nameHost("https://box.example:9000", home), "box.example-9000");
  assert.deepEqual(named(), {
    "box.example": "https://box.example:8787",
    "box.example-9000": "https://box.example:9000",
    second: "https://box.example:9000",
  });
  assert.equal(nameHost("http://[::1]:9", home), "host", "settings take no brackets");
  assert.equal(targetOf("second", { hosts: named() }).address, "https://box.example:9000");
  assert.equal(nameHost("https://new.example", home, "second"), "second", "a name that the person gave is moved");
  assert.equal(named()?.["second"], "https://new.example");
});
