import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type ServerDefinition, ServerFailure } from "../../src/mcp/server.ts";
import { secureAddress, guardedFetch, httpTransport } from "../../src/mcp/http.ts";
import { keptLogin, login } from "../../src/mcp/oauth.ts";
import { serversIn } from "../support/mcp.ts";
import { allow, sageWith, workspace } from "../support/sage.ts";

/** A remote server with a login, and everything that its clients asked of it. */
async function remote({ secured }: { secured: boolean }) {
  const seen: string[] = [];
  const challenges = new Map<string, string>();
  let issued = 0;
  let valid = "";
  const body = async (request: IncomingMessage) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
    return text;
  };
  const server = createServer((request, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { pathname, searchParams } = new URL(request.url ?? "/", origin);
    seen.push(`${request.method} ${pathname}`);
    const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
      void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    const handle = async () => {
      if (pathname.startsWith("/.well-known/oauth-protected-resource"))
        return json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
      if (pathname.startsWith("/.well-known/oauth-authorization-server"))
        return json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
        });
      if (pathname === "/register")
        return json({ ...(JSON.parse(await body(request)) as object), client_id: "sage-1" }, 201);
      if (pathname === "/authorize") {
        assert.equal(searchParams.get("code_challenge_method"), "S256");
        challenges.set("the-code", searchParams.get("code_challenge") ?? "");
        const back = new URL(searchParams.get("redirect_uri") ?? "");
        back.searchParams.set("code", "the-code");
        back.searchParams.set("state", searchParams.get("state") ?? "");
        return void response.writeHead(302, { location: back.href }).end();
      }
      if (pathname === "/token") {
        const given = new URLSearchParams(await body(request));
        if (given.get("grant_type") === "authorization_code") {
          const hashed = createHash("sha256")
            .update(given.get("code_verifier") ?? "")
            .digest("base64url");
          if (hashed !== challenges.get(given.get("code") ?? "")) return json({ error: "invalid_grant" }, 400);
        } else if (given.get("refresh_token") !== "refresh") return json({ error: "invalid_grant" }, 400);
        valid = `access-${++issued}`;
        return json({ access_token: valid, token_type: "Bearer", refresh_token: "refresh", expires_in: 3600 });
      }
      if (pathname !== "/mcp") return json({}, 404);
      if (secured && request.headers.authorization !== `Bearer ${valid}`)
        return json({}, 401, {
          "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
        });
      if (request.method !== "POST") return json({}, 405);
      const { id, method, params } = JSON.parse(await body(request)) as {
        id?: number;
        method: string;
        params?: { protocolVersion?: string };
      };
      if (id === undefined) return void response.writeHead(202).end();
      const results: Record<string, unknown> = {
        initialize: {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "r", version: "1" },
        },
        "tools/list": { tools: [{ name: "far", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "text", text: `from afar with ${String(request.headers["x-key"])}` }] },
      };
      json({ jsonrpc: "2.0", id, result: results[method] });
    };
    void handle();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const definition: ServerDefinition = {
    ...{ name: "remote", source: "user", file: "s", timeoutMs: 5_000, startupTimeoutMs: 5_000, reads: [] },
    transport: { type: "http", url: `http://127.0.0.1:${port}/mcp`, headers: { "X-Key": "k" } },
  };
  const end = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return { definition, seen, expire: () => (valid = ""), [Symbol.asyncDispose]: end };
}

const inMemory = (text?: string) => {
  let kept = text;
  return { read: () => kept, write: (now: string) => void (kept = now) };
};

const call = { calls: [{ tool: "mcp__remote__far", input: {} }] };

test("a remote server over HTTP, with the headers of its settings", async () => {
  using folder = workspace();
  await using there = await remote({ secured: false });
  await using servers = serversIn(folder.dir, there.definition);
  await using sage = await sageWith({
    dir: folder.dir,
    servers,
    rules: [allow("mcp__remote")],
    script: [call, { text: "done" }],
  });
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "success");
  assert.equal(sage.result(0, 0), "from afar with k");
});

test("a login: PKCE, the state of this login, tokens that are kept and refreshed; without one the person is told how", async () => {
  using folder = workspace();
  await using there = await remote({ secured: true });
  const tokens = inMemory();
  const http = async () => httpTransport(there.definition, keptLogin(there.definition, tokens));
  {
    await using servers = serversIn(folder.dir, there.definition, { http });
    const notices: string[] = [];
    await servers.ready(AbortSignal.timeout(10_000), (why) => notices.push(JSON.stringify(why)));
    assert.match(notices.join(), /server-login/);
    assert.ok(!there.seen.includes("POST /register"), "nothing is registered before the person wants to log in");
  }
  await login(
    there.definition,
    tokens,
    (address) => {
      // The person's browser: a forged state and another path first, then the way back.
      void (async () => {
        const redirect = new URL(address.searchParams.get("redirect_uri") ?? "");
        assert.equal(redirect.hostname, "127.0.0.1");
        assert.equal((await fetch(`${redirect.href}?code=evil&state=forged`)).status, 404);
        assert.equal((await fetch(`${redirect.origin}/other?code=evil`)).status, 404);
        await (await fetch(address)).text();
      })();
    },
    AbortSignal.timeout(10_000),
  );
  assert.match(tokens.read() ?? "", /"access-1"/);
  await using servers = serversIn(folder.dir, there.definition, { http });
  await using sage = await sageWith({
    dir: folder.dir,
    servers,
    rules: [allow("mcp__remote")],
    script: [call, call, { text: "done" }],
    wrap: (model) => ({
      ...model,
      reply(request, scope) {
        if (request.messages.length === 3) there.expire(); // between two calls
        return model.reply(request, scope);
      },
    }),
  });
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "success");
  assert.deepEqual([sage.result(0, 0), sage.result(1, 0)], ["from afar with k", "from afar with k"]);
  assert.match(tokens.read() ?? "", /"access-2"/);
});

test("only https, or this machine; a server out there sends nobody into this network", async () => {
  for (const url of ["http://mcp.example.com", "ftp://a", "nonsense", "http://10.0.0.1/"])
    assert.throws(() => secureAddress({ url }), ServerFailure);
  const fetchFor = guardedFetch(new URL("https://mcp.example.com"));
  for (const url of [
    "https://169.254.169.254/latest",
    "https://localhost/x",
    "https://192.168.0.1/",
    "https://[::1]/",
    "https://localhost./x",
    "https://intranet/",
    "https://[::7f00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "http://127.0.0.1:1/",
  ])
    await assert.rejects(fetchFor(url), ServerFailure);
});
