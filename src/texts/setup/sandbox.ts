import type { ConfineMode, ConfineReasonArgs } from "../../protocol/confine.ts";
import { sage } from "../command.ts";
import { problemText } from "../reasons/confine.ts";
import { inBoth } from "../language.ts";

type Problem = ConfineReasonArgs["confine-impossible"];

const en = {
  modes: {
    off: "commands run with your files, keys and network, as without a sandbox",
    contain: "commands that are allowed run confined",
    autoAllow: "commands run confined, and those that fit in run without asking",
  } satisfies Record<ConfineMode, string>,
  mode: (mode: ConfineMode, what: string) => `sandbox ${mode}: ${what}`,
  works: (version: string, ms: number) => `commands can be confined (bubblewrap ${version}, ${ms} ms)`,
  fails: (problem: Problem) => `commands cannot be confined: ${problemText(problem, "en")}`,
  off: () => `commands are not confined (\`${sage("sandbox autoAllow")}\` switches it on)`,
  saved: (mode: ConfineMode, path: string) => `${path} now says: sandbox ${mode}`,
  network: "Network: only through Sage, to hosts that rules allow",
  ended: (code: number | string) => `Ended with ${code}.`,
  blocked: (what: string) => `Blocked: ${what}`,
  aside: (path: string, to: string) => `Moved aside: ${path} to ${to}`,
  nothingBlocked: "Nothing was blocked.",
  usage: 'expected "off", "contain", "autoAllow" or "try -- <command>"',
  offer: "The operating system can confine commands to the workspace. Switch that on?",
};

const zh: typeof en = {
  modes: {
    off: "命令不受限制，可用你的文件、密钥和网络",
    contain: "获准的命令在沙箱中运行",
    autoAllow: "命令在沙箱中运行，适合沙箱的命令不再询问",
  },
  mode: (mode, what) => `沙箱 ${mode}：${what}`,
  works: (version, ms) => `命令可以在沙箱中运行（bubblewrap ${version}，${ms} 毫秒）`,
  fails: (problem) => `命令无法在沙箱中运行：${problemText(problem, "zh")}`,
  off: () => `命令不在沙箱中运行（用 \`${sage("sandbox autoAllow")}\` 打开）`,
  saved: (mode, path) => `${path} 现在写着：沙箱 ${mode}`,
  network: "网络：只经过 Sage，只到规则允许的主机",
  ended: (code) => `以 ${code} 结束。`,
  blocked: (what) => `已挡住：${what}`,
  aside: (path, to) => `已移开：${path} 移到 ${to}`,
  nothingBlocked: "没有挡住任何内容。",
  usage: "应为 off、contain、autoAllow 或 try -- <命令>",
  offer: "操作系统可以把命令限制在工作区内。要打开吗？",
};

export const sandboxTexts = inBoth<typeof en>(en, zh);
