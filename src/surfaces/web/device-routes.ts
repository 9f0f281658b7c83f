import type { HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";
import type { IncomingMessage } from "node:http";
import type { Devices } from "./devices.ts";
import type { CommandReply } from "../../protocol/host/host.ts";
import { refusalOf } from "../../protocol/host/refusal.ts";
import type { Entered, Turned } from "./entrance.ts";
import type { Origins } from "./headers.ts";

type DeviceParts = {
  devices: Devices;
  origins(): Origins;
  enter(incoming: IncomingMessage): Promise<Entered | Turned>;
  answer(status: number, body: object): Response;
  /** The result, or the answer to give where nothing can be written down. */
  settled<T>(doing: Promise<T>): Promise<T | Response>;
};

/** Devices: an approver sees and removes all, others their own. Only an approver's device invites, for the same person. */
export function addDeviceRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  { devices, origins, enter, answer, settled }: DeviceParts,
): void {
  /** Nothing of it for somebody whom a proxy names: a browser sends that by itself. */
  const own = async (incoming: IncomingMessage) => {
    const entered = await enter(incoming);
    if (typeof entered === "string") return undefined;
    entered.leave();
    const { identity, visitor } = entered;
    if (!("device" in identity)) return undefined;
    const { device } = identity;
    const approver = visitor.may.includes("approve");
    const all = devices.list().filter(({ owner }) => approver || owner === device.owner);
    return { device, visitor, approver, all };
  };

  app.get("/v1/devices", async ({ env: { incoming } }) => {
    const found = await own(incoming);
    if (!found) return answer(401, {});
    const listed = found.all.map(({ id, name, owner, at, seen, passkeys }) => ({
      id,
      name,
      owner: owner.replace(/^\w+:/, ""),
      at,
      seen,
      ...(passkeys && { passkeys: passkeys.length }),
      ...(id === found.device.id && { own: true }),
    }));
    return answer(200, { ok: true, devices: listed });
  });
  app.delete("/v1/devices/:id", async (context) => {
    const found = await own(context.env.incoming);
    if (!found) return answer(401, {});
    const id = context.req.param("id");
    const removed = found.all.some((device) => device.id === id) && (await settled(devices.remove(id)));
    if (removed instanceof Response) return removed;
    return answer(removed ? 200 : 404, { ok: removed });
  });
  app.post("/v1/devices", async ({ env: { incoming } }) => {
    const found = await own(incoming);
    if (!found) return answer(401, {});
    const [origin] = origins();
    if (!found.approver || origin === undefined) return answer(403, {});
    const invited = await settled(
      devices.invite({ owner: found.visitor.owner ?? found.device.owner, device: found.device.id }),
    );
    if (invited instanceof Response) return invited;
    return answer(200, { ok: true, link: `${origin}/#k=${invited.key}` });
  });
}

/** `begin` and `add` make a passkey of this device; `ask` and `answer` sign a yes with one. */
export type Passkeys = (
  act: string,
  from: { entered: Entered; origin: string | undefined },
  body: unknown,
) => Promise<PasskeyReply>;
export type PasskeyReply =
  | CommandReply
  | { ok: true }
  | { ok: true; challenge: string; site: string; person: string }
  | { ok: true; challenge: string; site: string; credentials: string[] };

type PasskeyParts = Pick<DeviceParts, "enter"> & {
  passkeys: Passkeys;
  count(person: string): void;
  readJson(incoming: IncomingMessage): Promise<unknown>;
  replied(reply: PasskeyReply): Response;
  turnedAway(why: Turned): Response;
};

/** A proxy's word is not enough: passkeys belong to devices. */
export function addPasskeyRoute(
  app: Hono<{ Bindings: HttpBindings }>,
  { passkeys, count, enter, readJson, replied, turnedAway }: PasskeyParts,
): void {
  app.post("/v1/passkeys/:act", async ({ req, env: { incoming } }) => {
    const entered = await enter(incoming);
    if (typeof entered === "string") return turnedAway(entered);
    try {
      const body = await readJson(incoming);
      if (body instanceof Response) return body;
      count(entered.visitor.by);
      return replied(await passkeys(req.param("act"), { entered, origin: incoming.headers.origin }, body));
    } catch (error) {
      return replied(refusalOf(error));
    } finally {
      entered.leave();
    }
  });
}
