import type { NestedReasonArgs, Sentences } from "../../protocol/reasons/reason.ts";
import type { StartReasonArgs } from "../../protocol/reasons/start.ts";
import { sage } from "../command.ts";
import type { Lang } from "../language.ts";
import { behaviorsZh, sourcesZh } from "./file.ts";

type Table = Sentences<StartReasonArgs & NestedReasonArgs["start"]>;

const en: Table = {
  "journal-is-folder": ({ path }) => `the journal should be a file, but ${path} is a directory; move it away`,
  "journal-foreign": ({ path }) =>
    `${path} belongs to another program; move it away, or set SAGE_HOME to another directory (in code: another \`journal\`)`,
  "journal-not-for-tests": ({ path }) => `${path} holds sessions and is no test journal; use another file`,
  "engine-unprepared": ({ path }) =>
    `the journal in ${path} is not ready for this login, which may not make what is missing: have the owner run \`sage engine prepare\`, which makes a role for workers and one for gateways, and give the login one of them`,
  "functions-older": ({ path, revision, needs }) =>
    `${path} was prepared by an older Sage (revision ${revision}, this one needs ${needs}): have the owner of the database run \`sage engine prepare\` with this version, then try again. Workers and gateways that run need not stop`,
  "functions-newer": ({ path, revision, knows }) =>
    `${path} was prepared by a newer Sage (revision ${revision}, this one knows ${knows}); update Sage on this machine`,
  "journal-newer": ({ path, format, knows }) =>
    `${path} was written by a newer Sage (format ${format}, this one knows ${knows}); update Sage, or set SAGE_HOME to another directory (in code: another \`journal\`)`,
  "journal-in-use": ({ path, pid }) =>
    `${path} is in use by an older Sage (process ${pid}), which would not understand what this one writes; end that process first`,
  "journal-empty": ({ path }) =>
    `${path} is empty: its content is lost; restore a copy, or remove the file to start over`,
  "journal-missing": ({ path }) =>
    `${path} is gone, but ${path}-wal is still there; restore the journal, or move the rest away to start over`,
  "runs-in-another": ({ session }) =>
    `session ${session} is run by another process; follow its turn with openTurns({ session }) and runTurn(""), or send it a message with host.send`,
  "host-insecure": ({ address }) =>
    `${address} would send the device's key unencrypted; use https, or http to this machine alone`,
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
  "server-missing": ({ server }) => `there is no MCP server "${server}"; \`${sage("mcp list")}\` lists them`,
  "server-there": ({ server, path }) =>
    `there is an MCP server "${server}" in ${path} already; choose another name, or run \`${sage(`mcp remove ${server}`)}\` first`,
  "guest-fixed": ({ session, agent }) =>
    `session ${session} is run by ${agent}; begin another session for another agent`,
  "list-changed": () => "nothing was answered: the list is not the one that was shown; look at it again",
  "for-people-only": () =>
    "this is for a person: a command that an agent runs may not answer, speak in a session, trust, change rules or touch other sessions",
  "file-not-object": ({ path }) => `${path} should hold a JSON object`,
  "home-relative": ({ given }) => `SAGE_HOME should be an absolute path; got "${given}"`,
  "home-unknown": ({ given }) =>
    `this user has no home directory${given === "" ? "" : ` ("${given}" is not an absolute path)`}; set HOME to a directory you may write to`,
  "home-inside": ({ path }) =>
    `SAGE_HOME is ${path}, inside of the folder that Sage works in; set it to a directory elsewhere`,
  "home-impossible": ({ path }) => `${path} cannot be created; set SAGE_HOME to a directory you may write to`,
  "command-not-data": () =>
    "a command should be plain data; this one holds something that cannot be copied, such as a function",
  "store-lacks": ({ method }) =>
    `store: it lacks ${method}; wrap memoryStore() or sqliteStore(path) rather than begin from nothing`,
  "store-returned": ({ method, expected, came }) =>
    `store: ${method}() should return ${expected === "anything" ? "its value" : `a value of type ${expected}`}${came === "promise" ? " at once" : ""}; it returned ${came === "promise" ? "a promise" : came}`,
  "option-folder": ({ option, path }) => `${option}: there is no folder ${path}`,
  "sdk-closed": () => "this SageAgentSDK was closed; make another one",
  "no-model": () => "no model: pass one, or set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENAI_BASE_URL",
  "server-taken": ({ server }) => `your own settings have a server "${server}", which is used`,
  "server-variable": ({ variable }) => `the environment variable ${variable} is not set`,
  "server-left-out": ({ server, problem }, say) => `the MCP server "${server}" is left out: ${say(problem)}`,
  "rule-without-tool": ({ behavior, rule, source, tool, tools }) =>
    `the ${behavior} rule "${rule}" (${source}) is for a tool "${tool}", and there is no such tool; there are ${tools.join(", ")}`,
  "rule-without-path": ({ behavior, rule, source, folder }) =>
    `the ${behavior} rule "${rule}" (${source}) is about /${folder}, which does not exist; for a folder of the project write ./${folder}`,
  "own-settings-only": ({ key }) => `"${key}" may only stand in your own settings; it is ignored here`,
  "silence-stranger": ({ name }) =>
    `"silence" asks ${name}, whom "people" of your settings does not name: nobody will be called; add them there`,
  "search-key-missing": ({ engine, variable }) => `WebSearch is not offered: ${engine} needs a key in ${variable}`,
  "search-provider-unfit": ({ provider, providers }) =>
    `WebSearch is not offered: ${provider === "" ? "no model is configured" : `${provider} has no search of its own`}; name a model of ${providers.join(", ")} in "webSearch"`,
  "answers-unfit": ({ path, problem }, say) =>
    `${path} should be a list of answers as --record-answers writes it: ${say(problem)}`,
  "module-left-out": ({ path, problem }, say) =>
    `the module ${path} is not loaded, its tools are missing: ${say(problem)}`,
  "module-missing": () => "there is no such file",
  "module-outside": ({ folder }) => `a project's module should lie in ${folder}`,
  "module-kind": () => "it should be a file that ends in .mjs or .js",
  "module-threw": ({ problem }, say) => `it broke while it was loaded: ${say(problem)}`,
  "module-hung": ({ limitMs }) => `it was not done loading after ${limitMs / 1_000} s`,
  "module-export": ({ came }) =>
    `its default export should be { tools, agents }, or a function that returns that; it is ${came}`,
  "module-wants": ({ expected }) =>
    ({
      function: "it should be a function",
      schema: "it should be a schema of zod 4 for an object, such as z.object({})",
      signal: "it should be an AbortSignal",
      model: "it should be provider/name, or an object with an id and the function reply",
      modelObject: "it should be an object with an id and the function reply",
      store: "it should be a Store, such as memoryStore() or sqliteStore(path)",
      responder: 'autoResponse should be "default", "alwaysAllow", "alwaysDeny" or a function',
      strategy:
        "it should be an object with the function execute, such as StandardStrategy or StreamingStrategy(onEvent)",
      log: "it should be the log that openSession(store, id) returns",
      lifecycle: "it should be a LifecycleManager",
      toolRegistry: "it should be a registry, such as createToolRegistry(builtinTools())",
      subagentRegistry: "it should be a registry, such as createSubagentRegistry()",
      hooks:
        "it should be hooks by their moment, such as { beforeCall: [{ run }] }, or an object with the functions has and run",
      prompt: "it should be text, or a function that makes text of the usual one",
      search:
        'it should be an object with a name and the function search, or settings of an engine, such as { engine: "brave" }',
      channel: "it should be a channel, such as InputChannel.nonInteractive(autoResponse)",
    })[expected],
  "schema-not-json": ({ problem }) => `it cannot be told to a model as JSON Schema: ${problem}`,
  "options-unfit": ({ door, problem }, say) => `options of ${door}: ${say(problem)}`,
  "module-import-untrusted": ({ path }) =>
    `it imports ${path}, which trust does not cover; import files of the project as "./name.mjs", written out`,
  "module-needs-node": ({ version }) => `modules need Node ${version} or later`,
};

const zh: Table = {
  "journal-is-folder": ({ path }) => `日志应当是文件，而 ${path} 是目录；请把它移走`,
  "journal-foreign": ({ path }) =>
    `${path} 是别的程序的数据库；请把它移走，或把 SAGE_HOME 设为另一个目录（代码里：换一个 \`journal\`）`,
  "journal-not-for-tests": ({ path }) => `${path} 中有会话，不是测试日志；请换一个文件`,
  "engine-unprepared": ({ path }) =>
    `${path} 里的日志还没有为这个登录准备好，而它无权创建缺少的部分：请让库的所有者运行 \`sage engine prepare\`（它会为工作进程和网关各建一个角色），再把其中一个角色授予这个登录`,
  "functions-older": ({ path, revision, needs }) =>
    `${path} 是由较旧的 Sage 准备的（修订 ${revision}，本版本需要 ${needs}）：请让库的所有者用本版本运行 \`sage engine prepare\`，然后再试一次；正在运行的工作进程和网关不必停下`,
  "functions-newer": ({ path, revision, knows }) =>
    `${path} 是由更新的 Sage 准备的（修订 ${revision}，本版本只懂 ${knows}）；请升级这台机器上的 Sage`,
  "journal-newer": ({ path, format, knows }) =>
    `${path} 由更新的 Sage 写成（格式 ${format}，本版本只懂 ${knows}）；请升级 Sage，或把 SAGE_HOME 设为另一个目录（代码里：换一个 \`journal\`）`,
  "journal-in-use": ({ path, pid }) =>
    `较旧的 Sage（进程 ${pid}）正在使用 ${path}，它读不懂本版本写的内容；请先结束那个进程`,
  "journal-empty": ({ path }) => `${path} 是空的：其中的内容已丢失，或在别处有副本；请恢复副本，或删除该文件重新开始`,
  "journal-missing": ({ path }) => `${path} 不见了，而 ${path}-wal 还在；请恢复日志，或把剩下的文件移走重新开始`,
  "runs-in-another": ({ session }) =>
    `会话 ${session} 正由另一个进程运行；用 openTurns({ session }) 和 runTurn("") 跟随它的这一轮，或用 host.send 给它发消息`,
  "host-insecure": ({ address }) => `${address} 会明文发送设备密钥；请使用 https，http 只能用于本机`,
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
  "server-missing": ({ server }) => `没有名为“${server}”的 MCP 服务器；可用 \`${sage("mcp list")}\` 列出`,
  "server-there": ({ server, path }) =>
    `${path} 里已有 MCP 服务器“${server}”；请换个名字，或先运行 \`${sage(`mcp remove ${server}`)}\``,
  "guest-fixed": ({ session, agent }) => `会话 ${session} 由 ${agent} 运行；要用另一个智能体，请开始新的会话`,
  "list-changed": () => "什么都没有回答：这一组已经不是之前显示的那些，请再看一遍",
  "for-people-only": () => "这只能由人来做：智能体运行的命令不得回答请求、在会话里说话、信任目录、更改规则或动别的会话",
  "file-not-object": ({ path }) => `${path} 应是一个 JSON 对象`,
  "home-relative": ({ given }) => `SAGE_HOME 应是绝对路径，收到的是“${given}”`,
  "home-unknown": ({ given }) =>
    `当前用户没有主目录${given === "" ? "" : `（“${given}”不是绝对路径）`}；请把 HOME 设为你可以写入的目录`,
  "home-inside": ({ path }) => `SAGE_HOME 是 ${path}，在 Sage 工作的目录之内；请设到别处`,
  "home-impossible": ({ path }) => `${path} 无法创建；请把 SAGE_HOME 设为你可以写入的目录`,
  "command-not-data": () => "命令应为纯数据；这一条里有无法复制的内容，例如函数",
  "store-lacks": ({ method }) => `store：缺少 ${method}；请包装 memoryStore() 或 sqliteStore(path)，不必从头写起`,
  "store-returned": ({ method, expected, came }) =>
    `store：${method}() 应${came === "promise" ? "直接" : ""}返回${expected === "anything" ? "它的值" : ` ${expected} 类型的值`}；它返回的是 ${came === "promise" ? "promise" : came}`,
  "option-folder": ({ option, path }) => `${option}：没有 ${path} 这个目录`,
  "sdk-closed": () => "这个 SageAgentSDK 已经关闭；请另建一个",
  "no-model": () => "没有模型：请指定一个，或设置 ANTHROPIC_API_KEY、OPENAI_API_KEY、GEMINI_API_KEY 或 OPENAI_BASE_URL",
  "server-taken": ({ server }) => `你自己的设置里已有服务器“${server}”，以它为准`,
  "server-variable": ({ variable }) => `环境变量 ${variable} 没有设置`,
  "server-left-out": ({ server, problem }, say) => `没有采用 MCP 服务器“${server}”：${say(problem)}`,
  "rule-without-tool": ({ behavior, rule, source, tool, tools }) =>
    `${sourcesZh[source]}的${behaviorsZh[behavior]}规则“${rule}”说的工具“${tool}”不存在；现有 ${tools.join("、")}`,
  "rule-without-path": ({ behavior, rule, source, folder }) =>
    `${sourcesZh[source]}的${behaviorsZh[behavior]}规则“${rule}”说的是 /${folder}，而它不存在；项目里的目录请写 ./${folder}`,
  "own-settings-only": ({ key }) => `“${key}”只能写在你自己的设置里，这里的不算`,
  "silence-stranger": ({ name }) =>
    `“silence”要询问 ${name}，但设置的“people”里没有此人，到时不会询问任何人；请在那里添加`,
  "search-key-missing": ({ engine, variable }) => `没有提供 WebSearch：${engine} 需要 ${variable} 里的密钥`,
  "search-provider-unfit": ({ provider, providers }) =>
    `没有提供 WebSearch：${provider === "" ? "没有配置模型" : `${provider} 自己没有搜索`}；请在“webSearch”里写明 ${providers.join("、")} 的一个模型`,
  "answers-unfit": ({ path, problem }, say) => `${path} 应是 --record-answers 写出的那种回答列表：${say(problem)}`,
  "module-left-out": ({ path, problem }, say) => `没有加载模块 ${path}，缺少它的工具：${say(problem)}`,
  "module-missing": () => "没有这个文件",
  "module-outside": ({ folder }) => `项目的模块应放在 ${folder} 之内`,
  "module-kind": () => "应是以 .mjs 或 .js 结尾的文件",
  "module-threw": ({ problem }, say) => `加载时出错：${say(problem)}`,
  "module-hung": ({ limitMs }) => `${limitMs / 1_000} 秒内没有加载完`,
  "module-export": ({ came }) => `默认导出应是 { tools, agents }，或返回它的函数；现在是 ${came}`,
  "module-wants": ({ expected }) =>
    ({
      function: "应是函数",
      schema: "应是 zod 4 的对象 schema，如 z.object({})",
      signal: "应是 AbortSignal",
      model: "应是 provider/name，或带有 id 和 reply 函数的对象",
      modelObject: "应是带有 id 和 reply 函数的对象",
      store: "应是 Store，如 memoryStore() 或 sqliteStore(path)",
      responder: 'autoResponse 应是 "default"、"alwaysAllow"、"alwaysDeny" 或函数',
      strategy: "应是带有 execute 函数的对象，如 StandardStrategy 或 StreamingStrategy(onEvent)",
      log: "应是 openSession(store, id) 返回的对象",
      lifecycle: "应是 LifecycleManager",
      toolRegistry: "应是注册表，如 createToolRegistry(builtinTools())",
      subagentRegistry: "应是注册表，如 createSubagentRegistry()",
      hooks: "应是按时机列出的 hook，如 { beforeCall: [{ run }] }，或带有 has 和 run 函数的对象",
      prompt: "应是文本，或由常用文本生成新文本的函数",
      search: '应是带有 name 和 search 函数的对象，或某个引擎的设置，如 { engine: "brave" }',
      channel: "应是通道，如 InputChannel.nonInteractive(autoResponse)",
    })[expected],
  "schema-not-json": ({ problem }) => `模型读的是 JSON Schema，而它写不成：${problem}`,
  "options-unfit": ({ door, problem }, say) => `${door} 的选项：${say(problem)}`,
  "module-import-untrusted": ({ path }) =>
    `它导入了不在信任范围内的 ${path}；导入项目里的文件时，请直接写出 "./name.mjs"`,
  "module-needs-node": ({ version }) => `模块需要 Node ${version} 或更新的版本`,
};

/** Read on the command line, in a log and by embedders. No host sends these, so the page is built without them. */
export const startReasons: Record<Lang, Table> = { en, zh };
