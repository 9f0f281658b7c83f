import { reason, type Reason } from "../../protocol/reasons/reason.ts";
import { isA } from "../programs/table.ts";
import { baseName } from "../text/tokens.ts";
import { parseRule } from "./rules.ts";

/** Effect of an allow rule beyond its words; undefined where there is none. */
export function meaningOf(rule: string): Reason | undefined {
  const reading = parseRule(rule);
  if (!reading.ok) return undefined;
  const { tool, specifier = "*" } = reading;
  switch (tool) {
    case "Bash":
      return specifier === "*" ? reason("allows-any-command", {}) : commandMeaning(specifier);
    case "Edit":
    case "Write":
      return isEverywhere(specifier) ? reason("allows-any-write", {}) : undefined;
    case "Read":
    case "Grep":
    case "Glob":
      return isEverywhere(specifier) ? reason("allows-any-read", {}) : undefined;
    case "WebFetch":
    case "Network":
      return specifier === "*" ? reason("allows-any-host", {}) : undefined;
    default:
      return /^mcp__[^_]+(?:_[^_]+)*(__\*)?$/.test(tool) ? reason("allows-server", { tool }) : undefined;
  }
}

function isEverywhere(specifier: string): boolean {
  return specifier === "*" || /^(~?\/+|\/\/)?\*\*(\/\*)?$/.test(specifier) || /^(~|\/)\/?$/.test(specifier);
}

function commandMeaning(specifier: string): Reason | undefined {
  const words = specifier.replace(/:\*$/, " *").trim().split(/\s+/);
  const [name = "", second = ""] = words;
  const program = baseName(name);
  const isOpen = specifier.endsWith("*");
  if (name.includes("*")) return reason("allows-any-command", {});
  if (/[^\s:*]\*$/.test(specifier) && !/[/=]\*$/.test(specifier))
    return reason("allows-longer", { text: specifier.slice(0, -1) });
  const isBare = words.length === 1 || (words.length === 2 && second === "*");
  if (isBare && (isA("wrapper", program) || isA("runner", program) || isA("stdin", program)))
    return isOpen || isA("stdin", program) ? reason("allows-any-code", { program }) : undefined;
  if (
    (/^(npx|bunx|uvx|pipx)$/.test(program) && (second === "" || second === "*")) ||
    (/^(go|cargo|uv|deno|bun|npm|pnpm|yarn|docker|kubectl)$/.test(program) &&
      /^(run|exec|x|dlx|tool)$/.test(second) &&
      (words[2] ?? "*") === "*")
  )
    return reason("allows-any-code", { program: words.slice(0, second === "*" ? 1 : 2).join(" ") });
  const file = scriptFile(program, second);
  if (file !== undefined) return reason("allows-scripts", { file });
  if (isBare && isOpen && program === "git") return reason("allows-git", {});
  if (isOpen && /^(curl|wget|ssh|scp|sftp|rsync|nc|ncat|telnet|ftp)$/.test(program) && !/:\/\//.test(specifier))
    return reason("allows-sending", { program });
  return undefined;
}

/** The file that says what such a command runs. */
function scriptFile(program: string, second: string): string | undefined {
  if (/^(npm|pnpm|yarn|bun)$/.test(program) && /^(test|run|start|build|t|\*|run-script|ci|install|i)$/.test(second))
    return "package.json";
  if (/^(make|gmake)$/.test(program)) return "Makefile";
  if (/^(just|rake|task|gradle|mvn|tox|nox|composer|mix)$/.test(program))
    return {
      just: "justfile",
      rake: "Rakefile",
      task: "Taskfile.yml",
      gradle: "build.gradle",
      mvn: "pom.xml",
      tox: "tox.ini",
      nox: "noxfile.py",
      composer: "composer.json",
      mix: "mix.exs",
    }[program];
  return undefined;
}
