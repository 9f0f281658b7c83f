import { inBoth } from "../language.ts";

/** Texts of a surface when another process, or a host that is elsewhere, runs the session it shows. */
const en = {
  stopped: "The process running this turn is gone. Answer, send a message or /resume to continue here.",
  live: "Output is live again.",
  lost: "Connection to the host lost. Reconnecting; nothing can be allowed until then.",
  back: "Connected again.",
};

const zh: typeof en = {
  stopped: "运行本轮的进程已不在。回答、发送消息或输入 /resume 即可在这里继续。",
  live: "已恢复实时显示。",
  lost: "与主机的连接已断开，正在重新连接；在此之前不能允许任何操作。",
  back: "已重新连接。",
};

export const ownerTexts = inBoth<typeof en>(en, zh);
