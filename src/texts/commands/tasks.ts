import { sage } from "../command.ts";
import { inBoth } from "../language.ts";

const en = {
  usage: `use \`${sage("tasks")}\` to list, or one of: output <id>, stop <id>, keep <id>`,
  how: `output, stop or keep one: \`${sage("tasks")} output|stop|keep <id>\``,
  howHere: "/tasks output ID, /tasks stop ID, or /tasks keep ID to keep it running after Sage",
  none: "No commands in the background.",
  unknown: (id: string) => `There is no command ${id} in the background; \`${sage("tasks")}\` lists them.`,
  severalOf: (id: string, ids: readonly string[]) => `${id} is the start of several: ${ids.join(", ")}`,
  runs: (age: string) => `running, ${age}`,
  elsewhere: "unknown: started in another container or on another machine",
  outOfReach: (id: string) => `${id} was started in another container or on another machine. Stop it there.`,
  kept: "kept",
  ended: (code: number | undefined) => (code === undefined ? "ended" : `exit code ${code}`),
  stopped: (id: string) => `${id} stopped.`,
  over: (id: string) => `${id} has already ended.`,
  keeps: (id: string) => `${id} keeps running when Sage exits. Stop it with \`${sage(`tasks stop ${id}`)}\`.`,
  noOutput: "No output yet.",
  outputGone: (file: string) => `The output file is gone: ${file}`,
};

export type TaskTexts = typeof en;

const zh: TaskTexts = {
  usage: `\`${sage("tasks")}\` 列出后台命令；后面可跟 output <编号>、stop <编号> 或 keep <编号>`,
  how: `查看输出、停止或保留：\`${sage("tasks")} output|stop|keep <编号>\``,
  howHere: "/tasks output 编号 查看输出，/tasks stop 编号 停止，/tasks keep 编号 让它在 Sage 退出后继续运行",
  none: "没有后台命令。",
  unknown: (id) => `没有后台命令 ${id}；可用 \`${sage("tasks")}\` 列出。`,
  severalOf: (id, ids) => `${id} 对应多条命令：${ids.join("、")}`,
  runs: (age) => `运行中，${age}`,
  elsewhere: "未知：在别的容器或机器上启动",
  outOfReach: (id) => `${id} 是在别的容器或机器上启动的，请到那里停止。`,
  kept: "保留",
  ended: (code) => (code === undefined ? "已结束" : `退出码 ${code}`),
  stopped: (id) => `已停止 ${id}。`,
  over: (id) => `${id} 已经结束。`,
  keeps: (id) => `Sage 退出后 ${id} 继续运行。用 \`${sage(`tasks stop ${id}`)}\` 停止。`,
  noOutput: "还没有输出。",
  outputGone: (file) => `输出文件已不存在：${file}`,
};

export const taskTexts = inBoth<TaskTexts>(en, zh);
