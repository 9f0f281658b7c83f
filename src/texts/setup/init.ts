import type { Lang } from "../language.ts";

/** `/init`: what the model is asked to do, and what people read about it. */
const tables: Record<Lang, { description: string; body: string }> = {
  en: {
    description: "write AGENTS.md after looking at the project",
    body: `Look at this project and write AGENTS.md in its root: the page that a coding agent reads first in every session here.

Look before you write: the file tree, the README, build files and package manifests, CI configuration, existing instructions (AGENTS.md, CLAUDE.md, .cursorrules, .github/copilot-instructions.md), and a few source and test files that show how the code is written.

The page holds only what somebody new could not see at a glance:
- commands to build, run, check and test, and to run a single test. Take them from the files; do not guess.
- how the code hangs together: the parts, what each is for, and rules between them that no single file shows.
- conventions that the code follows and a linter does not check.
- traps: what must not be edited by hand, steps that are easy to forget.

Short sentences, no general advice, no list of every file, nothing that you did not find in the project. At most 100 lines.
If AGENTS.md is there already, keep what is true, correct what is not, and say what you changed.

$ARGUMENTS`,
  },
  zh: {
    description: "查看项目后写出 AGENTS.md",
    body: `查看这个项目，在根目录写出 AGENTS.md：编程智能体在这里的每个会话都会先读这一页。

先看再写：文件结构、README、构建文件和包清单、CI 配置、已有的说明（AGENTS.md、CLAUDE.md、.cursorrules、.github/copilot-instructions.md），以及几个能看出写法的源文件和测试。

这一页只写新人一眼看不出来的内容：
- 构建、运行、检查、测试的命令，以及怎样只跑一个测试。从文件里找，不要猜。
- 代码怎样组织：有哪些部分，各管什么，以及单个文件看不出来的规矩。
- 代码遵守、但检查工具不管的约定。
- 容易踩的坑：不能手改的文件，容易忘的步骤。

句子要短，不写泛泛的建议，不罗列所有文件，不写项目里找不到的内容。最多 100 行。用项目文档所用的语言来写。
如果已有 AGENTS.md，保留正确的，改正错误的，并说明改了什么。

$ARGUMENTS`,
  },
};

export function initCommand(lang: Lang): { name: string; description: string; body: string } {
  return { name: "init", ...tables[lang] };
}
