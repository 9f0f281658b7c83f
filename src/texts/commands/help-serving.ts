import type { Lang } from "../language.ts";

/** The part of the help about serving people who are elsewhere, and about machines that share a journal. */
export const serving: Record<Lang, string> = {
  en: `Serving
  sage serve [--port <n>] [--host <address>] [--model <provider/name>] [--log json] [--open] [--demo]
                              listens on 127.0.0.1:8787 and prints a link to the page; --open opens it;
                              --demo plays a script in the model's place; docs/web.md, docs/feishu.md
  sage serve install|status|uninstall
                              as a service of your user (systemd, launchd)
  sage serve --engine postgres://…  [--place <name>]
                              sessions of a journal that machines share; workers run them: docs/scale.md
  sage worker --engine postgres://… [--place <name>] [--model <provider/name>] [--log json]
              [--listen <address:port>|none] [--address <name:port>]
                              runs sessions of a place, where their files are; SAGE_ENGINE in place of --engine;
                              gateways on other machines come to --listen, or by the name in --address
  sage workers --engine postgres://… [--json]
                              who works where, what waits for a place without a worker, and which gateway holds which bot
  sage engine migrate <postgres://…> [--from <journal.db>] [--place <name>]
                              brings the journal of this machine to that database; can be run again
  sage engine prepare <postgres://…> [--worker-login <name> [--place <name>]…] [--gateway-login <name>]
                              makes a role for workers and one for gateways: a worker's login cannot answer for people
  sage move <session> --to <place> --engine postgres://…
                              has workers of another place run it, once its files are there
  sage devices [--json] [--engine postgres://…]
  sage devices add [name] [--person <name>]
                              shows a link, its QR code and a short code, and asks before it lets a device in
  sage devices remove <device …> | --all
  sage hosts add '<link>' [name]
  sage hosts add <address> [name] --code <code>
                              pairs with a host; the link or code is from \`sage devices add\` there
  sage hosts remove <name>    forgets a host here, and this machine there`,
  zh: `服务
  sage serve [--port <n>] [--host <地址>] [--model <提供方/名称>] [--log json] [--open] [--demo]
                              监听 127.0.0.1:8787 并给出页面链接；--open 直接打开；
                              --demo 用脚本代替模型；见 docs/zh/web.md、docs/zh/feishu.md
  sage serve install|status|uninstall
                              作为你的用户服务运行（systemd、launchd）
  sage serve --engine postgres://…  [--place <名称>]
                              多台机器共用的日志中的会话，由工作进程运行：docs/zh/scale.md
  sage worker --engine postgres://… [--place <名称>] [--model <提供方/名称>] [--log json]
              [--listen <地址:端口>|none] [--address <名称:端口>]
                              在文件所在的地方运行该地点的会话；可用 SAGE_ENGINE 代替 --engine；
                              别的机器上的网关连到 --listen，或用 --address 里的名称
  sage workers --engine postgres://… [--json]
                              谁在哪里工作，哪些会话在等没有工作进程的地点，哪个网关持有哪个机器人
  sage engine migrate <postgres://…> [--from <journal.db>] [--place <名称>]
                              把这台机器的日志带到那个数据库；可以重复运行
  sage engine prepare <postgres://…> [--worker-login <名称> [--place <名称>]…] [--gateway-login <名称>]
                              为工作进程和网关各建一个角色：工作进程的登录不能替人回答
  sage move <会话> --to <地点> --engine postgres://…
                              改由另一地点的工作进程运行；文件要先在那里
  sage devices [--json] [--engine postgres://…]
  sage devices add [名称] [--person <名字>]
                              显示链接、二维码和短码，确认之后才让设备加入
  sage devices remove <设备 …> | --all
  sage hosts add '<链接>' [名称]
  sage hosts add <地址> [名称] --code <配对码>
                              与主机配对；链接或配对码来自那里的 \`sage devices add\`
  sage hosts remove <名称>    这里忘记主机，那里也移除这台机器`,
};
