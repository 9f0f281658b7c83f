import type { RuleBehavior, RuleSource } from "../decision.ts";

/** Why a command ended before there was a host to ask, or why an embedder's call is refused. No host sends these to a surface. */
export type StartReasonArgs = {
  "journal-is-folder": { path: string };
  "journal-foreign": { path: string };
  "journal-not-for-tests": { path: string };
  "engine-unprepared": { path: string };
  /** The functions in the database are of another version than this program. */
  "functions-older": { path: string; revision: number; needs: number };
  "functions-newer": { path: string; revision: number; knows: number };
  "journal-newer": { path: string; format: number; knows: number };
  /** An older Sage that still runs would not understand what this one writes. */
  "journal-in-use": { path: string; pid: number };
  /** A file of 0 bytes: its content was lost. */
  "journal-empty": { path: string };
  /** The log of a journal lies there without the journal. */
  "journal-missing": { path: string };
  /** An embedder's run of a session that another process runs. */
  "runs-in-another": { session: string };
  "host-insecure": { address: string };
  /** Neither an address nor the name of a host. */
  "host-not-named": { given: string; known: readonly string[] };
  /** This machine was never paired with it. */
  "host-key-missing": { address: string };
  /** Paired once; the host knows the key no more. */
  "host-key-refused": { address: string };
  "host-not-there": { address: string; problem: string };
  "host-speaks-other": { address: string; why: string };
  "host-shut": { address: string; why: string };
  /** A link or a code was used already, is too old, or wrong. */
  "pairing-refused": { address: string };
  "pairing-too-often": { address: string };
  "server-missing": { server: string };
  "server-there": { server: string; path: string };
  "guest-fixed": { session: string; agent: string };
  "list-changed": {};
  "for-people-only": {};
  "file-not-object": { path: string };
  "home-relative": { given: string };
  "home-unknown": { given: string };
  "home-inside": { path: string };
  "home-impossible": { path: string };
  /** A command that holds a function, or an object that stands for another. */
  "command-not-data": {};
  /** A store of an embedder's own. `expected` and `came` are names of types; "anything" is expected where any value will do. */
  "store-lacks": { method: string };
  "store-returned": { method: string; expected: string; came: string };
  "option-folder": { option: string; path: string };
  "sdk-closed": {};
  "no-model": {};
  "server-taken": { server: string };
  "server-variable": { variable: string };
  "rule-without-tool": PlacedRule & { tool: string; tools: readonly string[] };
  "rule-without-path": PlacedRule & { folder: string };
  "own-settings-only": { key: string };
  "silence-stranger": { name: string };
  "search-key-missing": { engine: string; variable: string };
  "search-provider-unfit": { provider: string; providers: readonly string[] };
  "module-missing": {};
  "module-outside": { folder: string };
  "module-kind": {};
  "module-hung": { limitMs: number };
  /** `came`: a name of a type. */
  "module-export": { came: string };
  "module-wants": {
    expected:
      | (
          | "function"
          | "schema"
          | "signal"
          | "model"
          | "modelObject"
          | "store"
          | "responder"
          | "strategy"
          | "log"
          | "lifecycle"
        )
      | ("toolRegistry" | "subagentRegistry" | "hooks" | "channel" | "prompt" | "search");
  };
  /** A tool's input schema that cannot be expressed for a model. */
  "schema-not-json": { problem: string };
  "module-import-untrusted": { path: string };
  "module-needs-node": { version: string };
};

type PlacedRule = { behavior: RuleBehavior; rule: string; source: RuleSource };
