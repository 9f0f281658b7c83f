import { inBoth } from "../language.ts";

const en = {
  written: (path: string) => `saved to ${path}`,
  unwritable: (path: string, why: string) => `${path} cannot be written: ${why}`,
  noFolder: "there is no such folder",
  isFolder: "it is a folder",
  noReader: "it is a pipe, and nobody reads from it",
  signedBy: (key: string) => `Signed with the key ${key}; give it to whoever checks (docs/receipts.md).`,
  removed: (n: number) => `${n} ${n === 1 ? "secret" : "secrets"} removed`,
};

export type ExportTexts = typeof en;

const zh: ExportTexts = {
  written: (path) => `已保存到 ${path}`,
  unwritable: (path, why) => `写不了 ${path}：${why}`,
  noFolder: "没有这个文件夹",
  isFolder: "这是一个文件夹",
  noReader: "这是一个管道，没有程序在读",
  signedBy: (key) => `签名公钥 ${key}；请交给核对的人（docs/receipts.md）。`,
  removed: (n) => `已移除 ${n} 处机密`,
};

export const exportTexts = inBoth<ExportTexts>(en, zh);
