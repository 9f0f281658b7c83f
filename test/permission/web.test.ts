import assert from "node:assert/strict";
import { test } from "node:test";
import { isPrivateAddress } from "../../src/permission/web.ts";
import { answer, rulesOf } from "./asking.ts";

const fetches = (url: unknown, ...rules: string[]) => answer(rulesOf(...rules), "WebFetch", { url });

test("a host is compared whole, in lower case, without its last dot; *.h is at least one more label", () => {
  const cases: [rule: string, url: string, behavior: string][] = [
    ["+ WebFetch(domain:a.org)", "https://a.org/x", "allow"],
    ["+ WebFetch(domain:a.org)", "http://A.ORG:8080/x", "allow"],
    ["+ WebFetch(domain:a.org)", "https://a.org./x", "allow"],
    ["+ WebFetch(domain:A.org.)", "https://a.org/x", "allow"],
    ["+ WebFetch(domain:xn--bcher-kva.de)", "https://bücher.de/", "allow"],
    ["+ WebFetch(domain:a.org)", "https://b.a.org/", "ask"],
    ["+ WebFetch(domain:a.org)", "https://a.org.evil.com/", "ask"],
    ["+ WebFetch(domain:a.org)", "https://evil.com/a.org", "ask"],
    ["+ WebFetch(domain:a.org)", "https://xa.org/", "ask"],
    ["+ WebFetch(domain:a.org)", "https://a.org@evil.com/", "ask"],
    ["+ WebFetch(domain:a.org)", "https://me:pw@a.org/", "ask"],
    ["+ WebFetch(domain:a.org)", "ftp://a.org/", "ask"],
    ["+ WebFetch(domain:a.org)", "file:///a.org", "ask"],
    ["+ WebFetch(domain:a.org)", "javascript:a.org", "ask"],
    ["+ WebFetch(domain:a.org)", "a.org", "ask"],
    ["+ WebFetch(domain:*.a.org)", "https://b.a.org/", "allow"],
    ["+ WebFetch(domain:*.a.org)", "https://c.b.a.org/", "allow"],
    ["+ WebFetch(domain:*.a.org)", "https://a.org/", "ask"],
    ["+ WebFetch(domain:*.a.org)", "https://xa.org/", "ask"],
    ["+ WebFetch(domain:*.*.org)", "https://b.a.org/", "ask"],
    ["+ WebFetch(domain:a*)", "https://a.org/", "ask"],
    ["+ WebFetch", "https://a.org/", "allow"],
    ["+ WebFetch(*)", "https://a.org/", "allow"],
    ["- WebFetch(domain:a.org)", "https://a.org/", "deny"],
    ["- WebFetch(domain:A.ORG)", "https://a.org./", "deny"],
    ["- WebFetch(domain:*.a.org)", "https://b.a.org/", "deny"],
    ["- WebFetch(domain:a*)", "https://a.org/", "deny"],
    ["- WebFetch(domain:a.org)", "https://b.org/", "ask"],
    ["- WebFetch(domain:a.org)", "not an address", "deny"],
    ["? WebFetch(domain:a.org)", "https://a.org/", "ask"],
  ];
  for (const [rule, url, behavior] of cases) assert.equal(fetches(url, rule).behavior, behavior, `${rule} ${url}`);
});

test("this machine and its own network are asked about under a broad rule, in every mode", () => {
  const near = [
    ...[
      "http://localhost:3000/",
      "http://127.0.0.1/",
      "http://127.1/",
      "http://0x7f.1/",
      "http://2130706433/",
      "http://[::1]/",
      "http://0/",
    ],
    ...[
      "http://10.0.0.1/",
      "http://192.168.1.1/",
      "http://172.16.0.1/",
      "http://169.254.169.254/latest/meta-data",
      "http://[fe80::1]/",
    ],
    ...[
      "http://[::ffff:127.0.0.1]/",
      "http://printer.local/",
      "http://db.internal/",
      "http://intranet/",
      "http://x.localhost/",
      "http://[fc00::1]/",
    ],
  ];
  for (const url of near) {
    const call = (mode: "default" | "bypass", ...rules: string[]) =>
      answer(rulesOf(...rules), "WebFetch", { url }, { mode });
    assert.equal(call("default", "+ WebFetch").hard, true, url);
    assert.equal(call("bypass", "+ WebFetch").hard, true, url);
  }
  assert.equal(fetches("http://localhost:3000/", "+ WebFetch(domain:localhost)").behavior, "allow");
  assert.equal(fetches("http://a.local/", "+ WebFetch(domain:*.local)").behavior, "ask");
  for (const address of ["8.8.8.8", "172.32.0.1", "2606:4700::1111"])
    assert.equal(isPrivateAddress(address), false, address);
  for (const address of ["100.64.0.1", "224.0.0.1", "0.0.0.0", "::", "fd00::1", "2002:7f00:1::"])
    assert.equal(isPrivateAddress(address), true, address);
});

test("an address that could carry data away is asked about even where its host is allowed", () => {
  const rule = "+ WebFetch(domain:a.org)";
  assert.equal(fetches(`https://a.org/?q=${"a".repeat(250)}`, rule).behavior, "allow");
  assert.equal(fetches(`https://a.org/?q=${"a".repeat(300)}`, rule).hard, true);
  assert.equal(fetches("https://a.org/?token=abc", rule).hard, true);
  assert.equal(fetches("https://a.org/?q=sk-abcdefghijklmnop", rule).hard, true);
  assert.equal(fetches("https://a.org/?q=%73k-abcdefghijklmnop", rule).hard, true);
});

test("a name that resolves to this machine or its own network is asked about, unless a rule names it", () => {
  const fetching = (addresses: string[], ...rules: string[]) =>
    answer(rulesOf(...rules), "WebFetch", { url: "https://inner.example.org/x" }, { addresses });
  for (const address of [
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "::1",
    "fd00::1",
    "::ffff:192.168.0.1",
    "64:ff9b::a00:1",
  ])
    for (const rule of ["+ WebFetch", "+ WebFetch(domain:*.example.org)"]) {
      const { behavior, hard } = fetching(["93.184.216.34", address], rule);
      assert.deepEqual([behavior, hard], ["ask", true], `${address} ${rule}`);
    }
  assert.equal(fetching(["10.1.2.3"], "+ WebFetch(domain:inner.example.org)").behavior, "allow");
  assert.equal(fetching(["93.184.216.34", "2606:2800:220:1::1"], "+ WebFetch").behavior, "allow");
});

test("a secret in the name of the host is asked about, unless the rule names that very host", () => {
  for (const url of ["https://akiaiosfodnn7example.evil.com/", "https://6b2f9d01c4e87a35f0d2b961.evil.com/x"])
    for (const rule of ["+ WebFetch", "+ WebFetch(domain:*.evil.com)"])
      assert.equal(fetches(url, rule).behavior, "ask", `${rule} ${url}`);
  const host = "6b2f9d01c4e87a35f0d2b961.cdn.org";
  assert.equal(fetches(`https://${host}/`, `+ WebFetch(domain:${host})`).behavior, "allow");
  assert.equal(fetches("https://raw.githubusercontent.com/a/b", "+ WebFetch").behavior, "allow");
});
