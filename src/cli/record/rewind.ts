import { succeed, exitCodes } from "../process/stdout.ts";
import { planRewind, rewindSession } from "../../archive/rewind.ts";
import { sageHome } from "../../config/home/home.ts";
import type { RewindWhat } from "../../protocol/facts/rewind.ts";
import { rewindPoints } from "../../protocol/facts/rewound.ts";
import type { CliTexts } from "../../texts/commands/cli.ts";
import { rewindTexts } from "../../texts/commands/rewind.ts";
import { texts } from "../../texts/shared/texts.ts";
import { agrees, openLocalJournal, checkApprover, person } from "../host/journal.ts";
import { sessionBy } from "../../view/find-session.ts";
import { readFlags, usage, type Flags } from "../process/flags.ts";
import { doubtful, overwriting, planLines, pointLines, readTurn } from "../../view/lines/rewind.ts";

const options = {
  to: { type: "string" },
  files: { type: "boolean" },
  conversation: { type: "boolean" },
  both: { type: "boolean" },
  "dry-run": { type: "boolean" },
  yes: { type: "boolean" },
  overwrite: { type: "boolean" },
} as const;

/** `sage rewind`: goes back to before a message, in the conversation, in files, or in both. */
export async function rewind(args: string[]): Promise<number> {
  const { values, positionals, lang, t } = readFlags(args, options);
  const w = rewindTexts(lang);
  const [target, stray] = positionals;
  if (target === undefined || stray !== undefined) throw usage(w.how);
  const what = readKind(values, t);
  const turn = values.to === undefined ? undefined : readTurn(values.to);
  if (values.to !== undefined && turn === undefined) throw usage(t.expected("--to", "t3", values.to));
  const { host, store } = openLocalJournal(process.env);
  try {
    const session = sessionBy(store.sessions(), target);
    if (turn === undefined) {
      const points = rewindPoints(store.load(session.id));
      return succeed([...pointLines(points, w), ...(points.length > 0 ? [w.next(session.id)] : [])].join("\n"));
    }
    const { output } = sageHome(process.env);
    const back = { turn, what, output, sageHome: process.env["SAGE_HOME"] };
    const plan = await planRewind(store, session, back);
    console.log(planLines(plan, session.cwd, { w, t: texts(lang) }).join("\n"));
    if (values["dry-run"]) return exitCodes.success;
    checkApprover();
    if (!values.yes && !(await agrees(w.agree))) {
      console.error(w.needsYes);
      return exitCodes.needsPerson;
    }
    const all = values.overwrite ?? (!values.yes && doubtful(plan.files).length > 0 && (await agrees(w.overwrite)));
    const overwrite = all ? overwriting(plan.files) : {};
    const sender = { by: person(), surface: "cli" };
    const { restored, problems } = await rewindSession(store, session, { ...back, overwrite, sender });
    console.log(texts(lang).restored(restored.length, problems.length));
    return problems.length === 0 ? exitCodes.success : exitCodes.failure;
  } finally {
    await host.close();
  }
}

function readKind({ files, conversation, both }: Flags<typeof options>["values"], t: CliTexts): RewindWhat {
  if (files && conversation) throw usage(t.conflict("--files", "--conversation"));
  if (both && (files || conversation)) throw usage(t.conflict("--both", files ? "--files" : "--conversation"));
  return files ? "files" : conversation ? "conversation" : "both";
}
