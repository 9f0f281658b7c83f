import { resolve } from "node:path";
import { reason, type Reason } from "../../../../protocol/reasons/reason.ts";
import { expandHome } from "../../../paths/canonical.ts";
import type { Reach } from "../../../rules/access.ts";
import { isA } from "../../../programs/table.ts";
import { baseName } from "../../../text/tokens.ts";

/** Whole folders are served, copied away or given to a container with what a rule is against in them. */
export function servesRuledFolder(
  words: readonly string[],
  { bases, home }: { bases: readonly string[]; home: string },
  reach: Reach,
): Reason | undefined {
  if (!reach.watchful) return undefined;
  const plain = words.map((word) =>
    word.replace(/["']/g, "").replace(/\$(PWD\b|\{PWD\}|\(\s*pwd\s*\))|`\s*pwd\s*`/g, "."),
  );
  // Behind another program it may be any of the words.
  const first = baseName(plain[0] ?? "");
  const starts = isA("wrapper", first) || runners.has(first) ? plain.keys() : [0];
  const places = [...starts].flatMap((at) => servedPlaces(plain.slice(at)));
  return ruleInside([...new Set(places)], bases, { home, reach });
}

const runners = new Set(
  "uv poetry pipenv pdm hatch rye pixi conda bundle nix-shell mise direnv dotenv doppler op".split(" "),
);

function servedPlaces([program = "", ...args]: readonly string[]): string[] {
  const name = baseName(program).toLowerCase();
  if (isA("container", name)) return mounted(args);
  return serves(name, args) ? [".", ...given(args)] : [];
}

/** A rule against something that lies in one of these places. Of a place that is not known it may be all of the folder. */
export function ruleInside(
  places: readonly string[],
  bases: readonly string[],
  { home, reach }: { home: string; reach: Reach },
): Reason | undefined {
  for (const base of bases)
    for (const place of places) {
      const path = /[$`*]/.test(place) ? "." : (expandHome(place, home) ?? ".");
      const real = resolve(base, path);
      const direct = reach.ruledAmong([real]);
      const { found, tooMuch } = direct ? { found: direct } : reach.ruledBelow({ lexical: real, real }, "Read");
      if (found) return reason("holds-ruled", { path: place, rule: found.text });
      if (tooMuch) return tooMuch;
    }
  return undefined;
}

/** Folders of this machine that a container is given, or that are copied into one. */
function mounted(args: readonly string[]): string[] {
  const isPlace = (text: string) => /^[./~$`]/.test(text);
  const bound = args.flatMap((arg, n) => {
    const value = (option: RegExp, glued: RegExp) => (option.test(args[n - 1] ?? "") ? arg : glued.exec(arg)?.[1]);
    const [volume = ""] = value(/^(-[a-z]*v|--volume)$/, /^(?:-v|--volume=)(.+)$/)?.split(":") ?? [];
    const mount = value(/^--mount$/, /^--mount=(.+)$/) ?? "";
    return [volume, /(?:^|,)(?:source|src)=([^,]*)/.exec(mount)?.[1] ?? ""].filter(isPlace);
  });
  const operands = given(args);
  const copied = operands[0] === "cp" || operands[1] === "cp" ? operands.filter((text) => !text.includes(":")) : [];
  return [...bound, ...copied.filter((text) => !/^(cp|container)$/.test(text))];
}

function given(args: readonly string[]): string[] {
  return args.filter((arg) => !arg.startsWith("-") && arg !== "");
}

/** The command hands out all that lies in a folder, mostly the one it is started in. */
function serves(name: string, args: readonly string[]): boolean {
  const text = args.join(" ");
  if (/^(python|pypy)[\d.]*$/.test(name))
    return /(^| )-\w*m ?(http\.server|SimpleHTTPServer|zipfile|tarfile|zipapp|pyftpdlib|uploadserver|RangeHTTPServer|twisted)\b/.test(
      text,
    );
  if (/^php[\d.]*$/.test(name)) return args.some((arg) => arg.startsWith("-S"));
  if (/^ruby[\d.]*$/.test(name)) return args.includes("-run") || /\bhttpd\b/.test(text);
  if (/^(npx|bunx|npm|pnpm|yarn|bun|deno|node)$/.test(name)) return args.some((arg) => servers.has(packageOf(arg)));
  if (/^(busybox|toybox)$/.test(name)) return /^(httpd|ftpd|tcpsvd|nc)\b/.test(text);
  if (name === "caddy") return /^(file-server|run|start)\b/.test(text);
  if (name === "git") return /(^| )(daemon|instaweb|http-backend)( |$)/.test(text);
  if (name === "aws") return /(^| )s3 (sync|cp|mv)( |$)/.test(text);
  if (name === "rclone") return /(^| )(serve|copy|copyto|sync|move|bisync|rcat)( |$)/.test(text);
  if (/^(gsutil|azcopy|mc|s3cmd|b2)$/.test(name)) return /(^| )(cp|rsync|sync|mirror|put|copy)( |$)/.test(text);
  return servers.has(name);
}

/** `http-server@14`, `https://deno.land/std/http/file_server.ts` */
function packageOf(arg: string): string {
  return baseName(arg).replace(/(@[\w.-]+|\.[jt]s)$/, "");
}

const servers = new Set(
  (
    "serve http-server live-server browser-sync local-web-server ws servor sirv sirv-cli file_server static-server miniserve darkhttpd " +
    "webfsd thttpd mini_httpd simple-http-server static-web-server dufs goshs ghfs twistd twist croc wormhole magic-wormhole ffsend " +
    "surge lftp ncftpput restic borg duplicity syncthing unison"
  ).split(" "),
);
