import type { Sentences } from "../../protocol/reasons/reason.ts";
import type { Blocked, ConfineProblem, ConfineReasonArgs } from "../../protocol/confine.ts";
import { sage } from "../command.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<ConfineReasonArgs>;

/** Hosts and paths that a confined command was kept from, in short. */
export function blockedNames(blocked: readonly Blocked[]): string[] {
  return blocked.map((access) => (access.kind === "host" ? `${access.host}:${access.port}` : access.path));
}

const problems: Record<Lang, Record<ConfineProblem, (detail: string) => string>> = {
  en: {
    platform: (detail) => `there is no sandbox for ${detail}`,
    "bwrap-missing": () => "bubblewrap is not installed (apt install bubblewrap)",
    "bwrap-old": (detail) => `bubblewrap ${detail} is too old; 0.8 or newer is needed`,
    "nsenter-missing": () => "nsenter is not installed (apt install util-linux)",
    "user-namespaces": (detail) =>
      `the system forbids user namespaces to bubblewrap (${detail}); on Ubuntu install the AppArmor profile bwrap-userns-restrict`,
    container: (detail) => `this container forbids namespaces (${detail})`,
    nested: (detail) => `this is a sandbox already (${detail})`,
    workspace: (detail) => `${detail} holds your home folder; work in a folder of its own`,
    leaks: (detail) => `a trial command got out of the sandbox (${detail})`,
    other: (detail) => detail,
  },
  zh: {
    platform: (detail) => `${detail} 上没有沙箱`,
    "bwrap-missing": () => "未安装 bubblewrap（apt install bubblewrap）",
    "bwrap-old": (detail) => `bubblewrap ${detail} 过旧，需要 0.8 或更新的版本`,
    "nsenter-missing": () => "未安装 nsenter（apt install util-linux）",
    "user-namespaces": (detail) =>
      `系统不允许 bubblewrap 使用用户命名空间（${detail}）；在 Ubuntu 上请安装 AppArmor 配置 bwrap-userns-restrict`,
    container: (detail) => `这个容器禁止命名空间（${detail}）`,
    nested: (detail) => `这里已经是一个沙箱（${detail}）`,
    workspace: (detail) => `${detail} 包含你的主目录；请在单独的目录中工作`,
    leaks: (detail) => `一条试运行的命令逃出了沙箱（${detail}）`,
    other: (detail) => detail,
  },
};

/** Why commands cannot be confined, as a part of a sentence. */
export function problemText({ problem, detail }: ConfineReasonArgs["confine-impossible"], lang: Lang): string {
  return problems[lang][problem](detail);
}

const en: Table = {
  "runs-confined": () => "Runs confined: it can write to the workspace only, and reach only hosts that rules allow.",
  "confined-blocked": ({ blocked }) => `It ran confined and was kept from ${blockedNames(blocked).join(", ")}.`,
  "confine-impossible": (args) =>
    `Commands run only confined (setting sandbox.mode), and that is not possible here: ${problemText(args, "en")}.`,
  "was-blocked": ({ blocked }) => `Blocked by confinement: ${blockedNames(blocked).join(", ")}`,
  "moved-aside": ({ moved }) => `Moved aside, since other programs would obey it: ${blockedNames(moved).join(", ")}`,
  "not-confined": ({ problem }) => `Not run: it could not be confined: ${problem}`,
  "will-run-confined": ({ hosts, writable, repository }) => {
    const more = [
      ...(repository === "write" ? ["may write the repository"] : []),
      ...(hosts.length > 0 ? [`may reach ${hosts.join(", ")}`] : []),
      ...(writable.length > 0 ? [`may write ${writable.join(", ")}`] : []),
    ];
    return ["Runs confined", ...more].join("; ");
  },
  "will-run-outside": () => "Runs outside the sandbox, with your files, keys and network",
  "could-run-confined": () => `Confined it would run without asking: \`${sage("sandbox autoAllow")}\``,
  "not-offered-outside": () => "this request does not offer to run the command outside the sandbox",
  "offer-network": ({ host }) => `lets every confined command reach ${host}`,
  "outside-unnamed": ({ program }) => `${program} can only work outside the sandbox, and no rule names it.`,
  "confine-root": () => 'sandbox.mode is "autoAllow", which root may not use: it counts as "contain"',
  "sandbox-path": ({ path, problem }) =>
    `sandbox: ${path} ${
      {
        home: "is your home folder",
        above: "holds the workspace",
        state: "holds Sage's state",
        protected: "is protected",
        relative: "should be an absolute path, or begin with ~/",
      }[problem]
    }`,
};

const zh: Table = {
  "runs-confined": () => "在沙箱中运行：只能写入工作区，只能连接规则允许的主机。",
  "confined-blocked": ({ blocked }) => `它在沙箱中运行过，并被挡在：${blockedNames(blocked).join("、")}。`,
  "confine-impossible": (args) =>
    `命令只能在沙箱中运行（设置 sandbox.mode），而这里做不到：${problemText(args, "zh")}。`,
  "was-blocked": ({ blocked }) => `被沙箱挡住：${blockedNames(blocked).join("、")}`,
  "moved-aside": ({ moved }) => `已移开，否则其他程序会照它行事：${blockedNames(moved).join("、")}`,
  "not-confined": ({ problem }) => `未运行：无法放入沙箱：${problem}`,
  "will-run-confined": ({ hosts, writable, repository }) => {
    const more = [
      ...(repository === "write" ? ["可写入仓库"] : []),
      ...(hosts.length > 0 ? [`可连接 ${hosts.join("、")}`] : []),
      ...(writable.length > 0 ? [`可写入 ${writable.join("、")}`] : []),
    ];
    return ["在沙箱中运行", ...more].join("；");
  },
  "will-run-outside": () => "在沙箱外运行，可用你的文件、密钥和网络",
  "could-run-confined": () => `放入沙箱后它不必询问：\`${sage("sandbox autoAllow")}\``,
  "not-offered-outside": () => "这个请求不提供在沙箱外运行",
  "offer-network": ({ host }) => `所有沙箱中的命令都可连接 ${host}`,
  "outside-unnamed": ({ program }) => `${program} 只能在沙箱外工作，而没有规则写明它。`,
  "confine-root": () => 'sandbox.mode 为 "autoAllow"，root 不能使用：按 "contain" 处理',
  "sandbox-path": ({ path, problem }) =>
    `sandbox：${path} ${
      {
        home: "是你的主目录",
        above: "包含工作区",
        state: "包含 Sage 的状态",
        protected: "受保护",
        relative: "应为绝对路径，或以 ~/ 开头",
      }[problem]
    }`,
};

export const confineReasons: Record<Lang, Table> = { en, zh };
