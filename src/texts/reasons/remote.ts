import type { Sentences } from "../../protocol/reasons/reason.ts";
import type { RemoteReasonArgs } from "../../protocol/reasons/remote.ts";
import { sage } from "../command.ts";
import type { Lang } from "../language.ts";

type Table = Sentences<RemoteReasonArgs>;

const listed = (candidates: readonly string[]) => candidates.map((one) => `  ${one}`).join("\n");

const en: Table = {
  "not-here": ({ command }) => `this host does not take "${command}"`,
  "no-session-like": ({ given }) => `no session ${given}; list them with \`${sage("sessions")}\``,
  "no-session-in": ({ cwd }) =>
    `there is no session in ${cwd} yet; list those of other folders with \`${sage("sessions")}\``,
  "sessions-alike": ({ given, candidates }) => `"${given}" is ambiguous; it could be:\n${listed(candidates)}`,
  "host-not-named": ({ given, known }) =>
    `no host is called "${given}"${known.length > 0 ? `; known: ${known.join(", ")}` : ""}; give its address, or pair with it: run \`sage devices add\` there, then here \`${sage("hosts add '<link>' [name]")}\``,
  "host-key-missing": ({ address }) =>
    `this machine is not paired with ${address}; run \`sage devices add\` there, then here \`${sage("hosts add '<link>'")}\``,
  "host-key-refused": ({ address }) =>
    `${address} does not accept this machine's key any more; run \`sage devices add\` there, then here \`${sage("hosts add '<link>'")}\``,
  "host-not-there": ({ address, problem }) =>
    `cannot reach ${address}${problem === "" ? "" : ` (${problem})`}; is \`sage serve\` running there?`,
  "host-speaks-other": ({ address, why }) =>
    `${address} runs a version of Sage that this one cannot talk to${why === "" ? "" : ` (${why})`}; update the older of the two`,
  "host-shut": ({ address, why }) =>
    `${address} lets nobody in here${why === "" ? "" : ` (${why})`}; check the address, and "people" and "serve" in the settings there`,
  "pairing-refused": ({ address }) =>
    `${address} did not accept the link or code: it works once and not for long. If this machine is paired already, \`${sage(`--host ${address}`)}\` is enough; else make a new one there with \`sage devices add\``,
  "pairing-too-often": ({ address }) => `too many attempts to pair with ${address}; wait a minute, then try again`,
  "receipts-unknown": ({ given }) =>
    `no session, call or file "${given}"; use a session id, a call id from \`sage why\`, or a file path`,
};

const zh: Table = {
  "not-here": ({ command }) => `这台主机不接受“${command}”`,
  "no-session-like": ({ given }) => `没有会话 ${given}；可用 \`${sage("sessions")}\` 列出`,
  "no-session-in": ({ cwd }) => `${cwd} 里还没有会话；用 \`${sage("sessions")}\` 列出其他文件夹里的`,
  "sessions-alike": ({ given, candidates }) => `"${given}" 不唯一，可能是：\n${listed(candidates)}`,
  "host-not-named": ({ given, known }) =>
    `没有名为“${given}”的主机${known.length > 0 ? `；已有：${known.join("、")}` : ""}；请给出地址，或先配对：在那边运行 \`sage devices add\`，再在这里运行 \`${sage("hosts add '<链接>' [名称]")}\``,
  "host-key-missing": ({ address }) =>
    `这台机器还没有与 ${address} 配对；在那里运行 \`sage devices add\`，再在这里运行 \`${sage("hosts add '<链接>'")}\``,
  "host-key-refused": ({ address }) =>
    `${address} 不再接受这台机器的密钥；在那里运行 \`sage devices add\`，再在这里运行 \`${sage("hosts add '<链接>'")}\``,
  "host-not-there": ({ address, problem }) =>
    `连不上 ${address}${problem === "" ? "" : `（${problem}）`}；那里在运行 \`sage serve\` 吗？`,
  "host-speaks-other": ({ address, why }) =>
    `${address} 运行的 Sage 版本无法与这里通信${why === "" ? "" : `（${why}）`}；请更新较旧的一方`,
  "host-shut": ({ address, why }) =>
    `${address} 不让任何人从这里进入${why === "" ? "" : `（${why}）`}；请检查地址，以及那里设置中的 "people" 和 "serve"`,
  "pairing-refused": ({ address }) =>
    `${address} 没有接受这个链接或配对码：它只能用一次，而且很快过期。如果这台机器已经配对，直接用 \`${sage(`--host ${address}`)}\` 即可；否则请在那里用 \`sage devices add\` 重新生成`,
  "pairing-too-often": ({ address }) => `与 ${address} 配对的尝试太多；请一分钟后再试`,
  "receipts-unknown": ({ given }) =>
    `没有会话、调用或文件“${given}”；请用会话编号、\`sage why\` 列出的调用编号或文件路径`,
};

export const remoteReasons: Record<Lang, Table> = { en, zh };
