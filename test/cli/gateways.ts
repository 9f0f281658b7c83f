import { Machine, mark } from "../support/cli.ts";
import { fakeFeishu, type FakeFeishu } from "../support/feishu/platform.ts";
import { createDatabase } from "../support/postgres.ts";

type Running = ReturnType<Machine["start"]>;

/** A database, a machine with a bot on the stand-in for the platform, and Lin in a group with it. */
export type Scene = {
  feishu: FakeFeishu;
  machine: Machine;
  lin: ReturnType<FakeFeishu["user"]>;
  group: string;
  env: Record<string, string>;
  serve(): Running;
  /** Its model asks for one command, and then says `reply`. */
  work(reply: string): Running;
};

/** Plays a story on two gateways and a worker, which it starts and ends itself. */
export async function onGateways(story: (scene: Scene) => Promise<void>): Promise<void> {
  const { url, drop } = await createDatabase();
  await using feishu = await fakeFeishu();
  {
    using machine = new Machine();
    const lin = feishu.user("Lin");
    const env = feishuEnv(url, feishu, lin.openId);
    await story({
      ...{ feishu, machine, lin, env, group: feishu.group("dev", [lin]) },
      serve: () => machine.start(["serve", "--port", "0", "--place", "here"], { env }),
      work(reply) {
        const model = machine.script({ calls: [mark] }, { text: reply });
        return machine.start(["worker", "--place", "here", "--model", model], { env });
      },
    });
  }
  await drop();
}

/** A gateway's bot on the stand-in for the platform, and its database. */
const feishuEnv = (engine: string, feishu: FakeFeishu, approver: string): Record<string, string> => ({
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
