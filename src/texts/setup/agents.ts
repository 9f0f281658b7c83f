import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const en = {
  /** The fate of an open request when everything is killed. */
  exact: "exact",
  carried: "carried",
  missing: "not installed",
  tooOld: (version: string, least: string) => `${version}, too old: carried (exact from ${least} on)`,
  unknownVersion: "version unknown",
  ready: (name: string, version: string) => `${name} ${version} can run turns (--agent ${name})`,
  old: (version: string, least: string) =>
    `claude ${version} is too old to keep a request that waits; update it to ${least} or newer`,
  columns: { agent: "agent", version: "version", kept: "requests", sees: "Sage is asked about" },
  sees: {
    claude: "every call",
    codex: "what Codex asks about; commands and patches, not what it trusts by itself",
    acp: "what the agent asks about; rules speak about its commands only",
  },
  legend: [
    "exact: after a kill an open request is met again as it was (with Codex as long as its app-server lives). carried: the answer reaches the agent in words, and it makes the call again.",
    "Sage cannot refuse what an agent does not ask about, and does not confine agents: they need your home and your login.",
  ],
  use: () => `Use one: \`${sage('--agent claude "task"')}\`. Others that speak ACP: "agents" in the settings.`,
  server: (since: string, parked: number) =>
    `Codex's app-server runs since ${since}${parked === 0 ? "" : ` and holds requests of ${parked} ${parked === 1 ? "session" : "sessions"}`}; \`${sage("agents stop")}\` ends it`,
  stopped: (count: number): string =>
    count === 0 ? "No app-server of Sage's was running." : "Codex's app-server has ended.",
  usage: `use \`${sage("agents")}\` to list them, or \`${sage("agents stop")}\` to end Codex's app-server`,
};

export type AgentsTexts = typeof en;

const zh: AgentsTexts = {
  exact: "精确",
  carried: "转达",
  missing: "未安装",
  tooOld: (version, least) => `${version}，版本过低：只能转达（${least} 起为精确）`,
  unknownVersion: "版本未知",
  ready: (name, version) => `${name} ${version} 可以运行任务（--agent ${name}）`,
  old: (version, least) => `claude ${version} 版本过低，无法保留等待中的请求；请更新到 ${least} 或更高版本`,
  columns: { agent: "智能体", version: "版本", kept: "请求", sees: "Sage 会被问到" },
  sees: {
    claude: "每一次调用",
    codex: "Codex 自己会问的命令和补丁；它自行信任的除外",
    acp: "智能体自己会问的调用；规则只管其中的命令",
  },
  legend: [
    "精确：进程被杀死后，待处理的请求会原样再现（Codex 须其 app-server 仍在运行）。转达：你的回答以文字告诉智能体，由它重新发起调用。",
    "智能体不问的事，Sage 无法拒绝；Sage 也不把智能体放进沙箱：它们需要你的主目录和登录信息。",
  ],
  use: () => `使用：\`${sage('--agent claude "任务"')}\`。其他支持 ACP 的智能体写在设置的 "agents" 中。`,
  server: (since, parked) =>
    `Codex 的 app-server 自 ${since} 起运行${parked === 0 ? "" : `，保留着 ${parked} 个会话的请求`}；用 \`${sage("agents stop")}\` 结束它`,
  stopped: (count) => (count === 0 ? "没有 Sage 启动的 app-server 在运行。" : "Codex 的 app-server 已结束。"),
  usage: `用 \`${sage("agents")}\` 列出，或用 \`${sage("agents stop")}\` 结束 Codex 的 app-server`,
};

export const agentsTexts = inBoth<AgentsTexts>(en, zh);
