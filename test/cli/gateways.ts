import type { FakeFeishu } from "../support/feishu/platform.ts";

/** A gateway's bot on the stand-in for the platform, and its database. */
export const feishuEnv = (engine: string, feishu: FakeFeishu, approver: string): Record<string, string> => ({
  SAGE_ENGINE: engine,
  FEISHU_APP_ID: feishu.appId,
  FEISHU_APP_SECRET: feishu.appSecret,
  FEISHU_DOMAIN: feishu.url,
  FEISHU_APPROVERS: approver,
  NO_PROXY: "127.0.0.1",
});

/** How the bot of a gateway stands. */
export async function answered(ready: string): Promise<{ state?: string }> {
  const response = await fetch(ready);
  return ((await response.json()) as { feishu?: { state?: string } }).feishu ?? {};
}
