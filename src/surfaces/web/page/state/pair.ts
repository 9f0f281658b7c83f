import { type ListedDevice, type Settings, storage } from "./settings.ts";

/** The one-time key of a link that was opened here. */
export function invitationIn(fragment: string): string | undefined {
  return /^#k=([\w-]+)$/.exec(fragment)?.[1];
}

/** Trades a link's key or a code for a key of this device, which stays in this browser. */
export async function pairWith(given: ({ key: string } | { code: string }) & { name: string }): Promise<boolean> {
  try {
    const reply = await fetch("/v1/pair", {
      method: "POST",
      headers: { "content-type": "application/json", "x-sage": "1" },
      body: JSON.stringify(given),
    });
    const found = (await reply.json()) as { ok?: boolean; key?: unknown };
    if (!reply.ok || found.ok !== true || typeof found.key !== "string") return false;
    storage.put("sage.key", found.key);
    return true;
  } catch {
    return false;
  }
}

/** Such as "Chrome on Linux": people know their devices by it in a list. */
export function deviceName(): string {
  const { userAgent } = navigator;
  const browser = /Firefox|Edg(?=\/)|Chrome|Safari/.exec(userAgent)?.[0]?.replace("Edg", "Edge") ?? "Browser";
  const system = /Android|iPhone|iPad|Windows|Mac OS X|Linux/.exec(userAgent)?.[0]?.replace("Mac OS X", "macOS");
  return system === undefined ? browser : `${browser}, ${system}`;
}

/** The devices of this person, as the host's routes tell and change them. */
export function deviceDesk(key: () => string): Pick<Settings["devices"], "list" | "remove" | "invite"> {
  const ask = async (method: string, path: string): Promise<Record<string, unknown> | undefined> => {
    try {
      const reply = await fetch(path, { method, headers: { authorization: `Bearer ${key()}`, "x-sage": "1" } });
      return reply.ok ? ((await reply.json()) as Record<string, unknown>) : undefined;
    } catch {
      return undefined;
    }
  };
  return {
    async list() {
      const found = await ask("GET", "/v1/devices");
      return Array.isArray(found?.["devices"]) ? (found["devices"] as ListedDevice[]) : undefined;
    },
    async remove(id) {
      await ask("DELETE", `/v1/devices/${encodeURIComponent(id)}`);
    },
    async invite() {
      const found = await ask("POST", "/v1/devices");
      return typeof found?.["link"] === "string" ? found["link"] : undefined;
    },
  };
}
