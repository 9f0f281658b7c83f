import { randomBytes } from "node:crypto";
import * as z from "../../../base/z.ts";
import { unveiled } from "../../../host/person/guarded.ts";
import type { Veil } from "../../../host/person/veil.ts";
import { challengeOf, siteOf, verifyAssertion, verifyAttestation, type Attested } from "../../../input/passkey.ts";
import type { Store } from "../../../journal/store/store.ts";
import type { InputResponse } from "../../../protocol/facts/answer.ts";
import { takesSignature } from "../../../protocol/facts/consent.ts";
import type { InputRequest } from "../../../protocol/facts/request.ts";
import type { Command, Host } from "../../../protocol/host/host.ts";
import { reason, SageError, type SageErrorCode } from "../../../protocol/reasons/reason.ts";
import type { Assertion, PasskeyProof } from "../../../protocol/sender.ts";
import type { Devices, Entered, Identity, Passkey, PasskeyReply, Passkeys } from "../../../surfaces/web/index.ts";

type Granted = InputResponse & { type: "granted" };
type PasskeyParts = {
  devices: Devices;
  store: Pick<Store, "find">;
  veil: Veil;
  /** The name that a device's person has by the settings of this moment. */
  nameOf(identity: Identity): string | undefined;
  /** The host as this person may use it; `signed`, where their answer is. */
  hostFor(entered: Entered, signed: PasskeyProof): Host;
  /** A command as it came, checked. Throws for anything else. */
  parse(body: unknown): Command;
};

const text = z.string();
const attested = z.strictObject({ client: text, authenticator: text } satisfies Record<keyof Attested, z.Schema>);
const signature = { credential: text, client: text, authenticator: text, signature: text };
const assertion = z.strictObject(signature satisfies Record<keyof Assertion, z.Schema>);
const sent = z.looseObject({ response: z.unknown(), assertion });

/** Makes passkeys of devices, and signs answers with them. Each challenge is given to a device once, for one address and two minutes. */
export function createPasskeys({ devices, store, veil, nameOf, hostFor, parse }: PasskeyParts): Passkeys {
  return async (act, { entered, origin = "" }, body) => {
    const site = siteOf(origin);
    const { identity, visitor } = entered;
    if (!("device" in identity) || site === undefined) throw refused("passkey-not-here");
    const { id: device } = identity.device;
    const own = () => ofPerson(visitor.by);

    switch (act) {
      case "begin": {
        mayAdd();
        const challenge = randomBytes(32).toString("base64url");
        await devices.challenge(challenge, { device, origin });
        return { ok: true, challenge, site, person: visitor.by };
      }
      case "add": {
        mayAdd();
        const made = attested.safeParse(body);
        const challenge = made.success ? await redeemed(made.data) : undefined;
        const passkey =
          made.success && challenge && verifyAttestation(made.data, { origin, challenge: challenge.text });
        if (!passkey || challenge?.nonce !== undefined) throw refused("passkey-unfit");
        if (!(await devices.addPasskey(device, { ...passkey, site, at: Date.now() }))) throw refused("passkey-unfit");
        return { ok: true };
      }
      case "ask": {
        const { request, response, isOpen } = asked((body as { response?: unknown } | null)?.response);
        const fit = isOpen ? own().filter(({ passkey }) => passkey.site === site) : [];
        const credentials = fit.map(({ passkey }) => passkey.credential);
        const nonce = randomBytes(32).toString("base64url");
        const challenge = challengeOf(request, response, nonce);
        if (credentials.length > 0) await devices.challenge(challenge, { device, origin, nonce });
        return { ok: true, challenge, site, credentials };
      }
      case "answer":
        return answered(body);
      default:
        throw refused("passkey-unfit");
    }

    /** Any code of this account can pair a browser and play an authenticator: only the first passkey is taken on trust. */
    function mayAdd(): void {
      if (!visitor.may.includes("approve")) throw new SageError("not-permitted", reason("may-not-approve", visitor));
      if (!entered.elsewhere && own().length > 0) throw refused("passkey-elsewhere");
    }

    async function answered(given: unknown): Promise<PasskeyReply> {
      const parsed = sent.safeParse(given);
      if (!parsed.success) throw refused("passkey-unfit", "request-invalid");
      const signed = parsed.data.assertion;
      const { request, response } = asked(parsed.data.response);
      const nonce = (await redeemed(signed))?.nonce;
      const found = own().find(({ passkey }) => passkey.credential === signed.credential);
      if (nonce === undefined || !found || found.passkey.site !== site) throw refused("passkey-unfit");
      const { publicKey } = found.passkey;
      const counter = verifyAssertion(signed, { publicKey, origin, challenge: challengeOf(request, response, nonce) });
      if (counter === undefined || !(await devices.countPasskey(found.device, signed.credential, counter)))
        throw refused("passkey-unfit");
      const proof = { ...signed, device: found.device, publicKey, nonce, origin };
      return hostFor(entered, proof).send({ type: "respond", response, by: visitor.by, surface: "web" });
    }

    /** The challenge that these words of a browser name, if it was given to this device at this address and is used for the first time. */
    async function redeemed({ client }: Attested): Promise<{ text: string; nonce?: string } | undefined> {
      const named = challengeIn(client);
      const kept = named === undefined ? undefined : await devices.redeem(named);
      if (named === undefined || kept?.device !== device || kept.origin !== origin) return undefined;
      return { text: named, ...(kept.nonce !== undefined && { nonce: kept.nonce }) };
    }
  };

  /** The yes as the host will record it. */
  function asked(given: unknown): { request: InputRequest; response: Granted; isOpen: boolean } {
    const command = parse({ type: "respond", response: given, by: "", surface: "web" });
    const response = command.type === "respond" ? command.response : undefined;
    const { request, resolution } = (response && store.find(response.requestId)) ?? {};
    if (!response || !request)
      throw new SageError("request-unknown", reason("request-missing", { request: response?.requestId ?? "" }));
    if (response.type !== "granted" || !takesSignature(request)) throw refused("passkey-unfit", "request-invalid");
    return { request, response: unveiled(request, response, veil) as Granted, isOpen: resolution === undefined };
  }

  /** Passkeys of all devices of a person: one of them may follow the person from browser to browser. */
  function ofPerson(by: string): { device: string; passkey: Passkey }[] {
    return devices
      .list()
      .filter((device) => nameOf({ device }) === by)
      .flatMap(({ id, passkeys = [] }) => passkeys.map((passkey) => ({ device: id, passkey })));
  }
}

function challengeIn(client: string): string | undefined {
  try {
    const { challenge } = JSON.parse(Buffer.from(client, "base64url").toString("utf8")) as { challenge?: unknown };
    return typeof challenge === "string" ? challenge : undefined;
  } catch {
    return undefined;
  }
}

function refused(
  why: "passkey-unfit" | "passkey-not-here" | "passkey-elsewhere",
  code: SageErrorCode = "not-permitted",
): SageError {
  return new SageError(code, reason(why, {}));
}
