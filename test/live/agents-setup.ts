import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GuestsSettings } from "../../src/config/settings/model-settings.ts";
import type { modelServer } from "../support/model-server.ts";

export type Scene = { home: string; env: NodeJS.ProcessEnv; settings: GuestsSettings };
export type Real = { tool: string; input(command: string): object; prepare(scene: Scene): void };

export const shell = (command: string) => ({ command, description: "make a file" });
export const agents = (server: Awaited<ReturnType<typeof modelServer>>): Record<string, Real> => ({
  claude: {
    tool: "Bash",
    input: shell,
    prepare: ({ env }) =>
      Object.assign(env, {
        ANTHROPIC_BASE_URL: server.anthropicURL,
        ANTHROPIC_API_KEY: "made-up",
        DISABLE_TELEMETRY: "1",
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      }),
  },
  codex: {
    tool: "exec_command",
    input: (cmd) => ({ cmd }),
    prepare({ env, settings }) {
      env["FAKE_KEY"] = "made-up";
      const provider = `{name="fake",base_url="${server.openaiURL}",wire_api="responses",env_key="FAKE_KEY"}`;
      const config = ['model_provider="fake"', `model_providers.fake=${provider}`, 'model="gpt-5-codex"'];
      const quiet = ["check_for_update_on_startup=false", "analytics.enabled=false"];
      Object.assign(settings, { codex: { args: [...config, ...quiet].flatMap((one) => ["-c", one]) } });
    },
  },
  gemini: {
    tool: "run_shell_command",
    input: shell,
    prepare({ home, env, settings }) {
      const url = server.googleURL.replace(/\/v1beta$/, "");
      Object.assign(env, { GEMINI_API_KEY: "made-up", GOOGLE_GEMINI_BASE_URL: url });
      mkdirSync(join(home, ".gemini"));
      const auth = {
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
      };
      writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(auth));
      Object.assign(settings, { gemini: { args: ["--acp", "--skip-trust", "-m", "gemini-2.5-flash"] } });
    },
  },
  qwen: {
    tool: "run_shell_command",
    input: (command) => ({ command, description: "make a file", is_background: false }),
    prepare({ env, settings }) {
      Object.assign(env, { OPENAI_API_KEY: "made-up", OPENAI_BASE_URL: server.openaiURL, OPENAI_MODEL: "qwen-test" });
      Object.assign(settings, { qwen: { args: ["--acp", "--auth-type", "openai"] } });
    },
  },
  opencode: {
    tool: "bash",
    input: shell,
    prepare({ home, env }) {
      const file = join(home, "opencode.json");
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: server.openaiURL, apiKey: "made-up" },
        models: { test: {} },
      };
      writeFileSync(
        file,
        JSON.stringify({
          model: "fake/test",
          provider: { fake: provider },
          permission: { bash: "ask" },
          autoupdate: false,
        }),
      );
      env["OPENCODE_CONFIG"] = file;
    },
  },
});
