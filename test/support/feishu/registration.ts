import { gunzipSync } from "node:zlib";
import type { Json, World } from "./world.ts";

/** Making an app by a code that somebody scans, as the platform does it. */
export type Registration = {
  answer(form: URLSearchParams): { status: number; body: Json };
  /** Somebody scans the address that the code holds, and confirms or refuses. What the app would get. */
  scan(url: string, openId: string, options?: { confirm?: boolean; lark?: boolean }): Json;
};

export function createRegistration({ app }: World): Registration {
  const waiting = new Map<string, Json | undefined>();
  return {
    answer(form) {
      if (form.get("action") === "begin") {
        const code = `device-${waiting.size + 1}`;
        waiting.set(code, undefined);
        const verification_uri_complete = `https://accounts.example.test/page/launcher?user_code=${code}`;
        return { status: 200, body: { device_code: code, verification_uri_complete, expires_in: 600, interval: 0.05 } };
      }
      const code = form.get("device_code") ?? "";
      if (!waiting.has(code)) return { status: 400, body: { error: "expired_token" } };
      const told = waiting.get(code);
      if (!told) return { status: 400, body: { error: "authorization_pending" } };
      return { status: "error" in told ? 400 : 200, body: told };
    },
    scan(url, openId, { confirm = true, lark = false } = {}) {
      const { searchParams } = new URL(url);
      const code = searchParams.get("user_code") ?? "";
      const user_info = { open_id: openId, tenant_brand: lark ? "lark" : "feishu" };
      const refused = { error: "access_denied", error_description: "the person said no" };
      waiting.set(code, confirm ? { client_id: app.id, client_secret: app.secret, user_info } : refused);
      const packed = (searchParams.get("addons") ?? "").replaceAll("-", "+").replaceAll("_", "/");
      return JSON.parse(gunzipSync(Buffer.from(packed, "base64")).toString("utf8")) as Json;
    },
  };
}
