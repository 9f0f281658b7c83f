import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import { oneLine } from "../../base/visible.ts";
import type { Host } from "../../protocol/host/host.ts";
import { sessionModes, type SessionMode } from "../../protocol/mode.ts";
import type { AcpTexts } from "../../texts/surfaces/acp.ts";

/** Modes of a session, in the protocol's first form. */
export function modesOf(mode: SessionMode, w: AcpTexts): SessionModeState {
  return { currentModeId: mode, availableModes: sessionModes.map((id) => ({ id, ...w.modes[id] })) };
}

/** Mode and model, in the form that newer editors prefer. */
export function configOf({ mode, model, offered }: Chosen, w: AcpTexts): SessionConfigOption[] {
  const models = offered.includes(model) || model === "" ? offered : [model, ...offered];
  return [
    {
      ...{ type: "select", id: "mode", name: w.mode, category: "mode", currentValue: mode },
      options: sessionModes.map((value) => ({ value, ...w.modes[value] })),
    },
    ...(models.length === 0
      ? []
      : [
          {
            ...{ type: "select" as const, id: "model", name: w.model, category: "model" as const, currentValue: model },
            options: models.map((value) => ({ value, name: oneLine(value) })),
          },
        ]),
  ];
}

type Chosen = { mode: SessionMode; model: string; offered: readonly string[] };

/** Models of all providers that are set up, as they are named to choose one. Providers that do not answer have none. */
export async function offeredModels(host: Host): Promise<string[]> {
  const reply = await host.send({ type: "models" });
  if (!reply.ok) return [];
  const lists = await Promise.all(
    reply.providers.map(async (provider) => {
      const one = await host.send({ type: "models", provider });
      return one.ok ? (one.models ?? []) : [];
    }),
  );
  return lists.flat();
}
