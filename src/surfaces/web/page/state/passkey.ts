import type { CommandReply } from "../../../../protocol/host/host.ts";
import { refusalOf } from "../../../../protocol/host/refusal.ts";
import { reason, SageError } from "../../../../protocol/reasons/reason.ts";
import type { Settings } from "./settings.ts";

/** Passkeys of this browser: it asks the person for a finger, a face or a PIN, and the host checks what was signed. */
export function passkeyDesk(key: () => string): Pick<Settings["devices"], "addPasskey" | "sign"> {
  const post = async (act: string, body: object): Promise<Record<string, unknown> & { ok: boolean }> => {
    const headers = { authorization: `Bearer ${key()}`, "content-type": "application/json", "x-sage": "1" };
    const reply = await fetch(`/v1/passkeys/${act}`, { method: "POST", headers, body: JSON.stringify(body) });
    return (await reply.json()) as Record<string, unknown> & { ok: boolean };
  };
  return {
    async addPasskey() {
      const begun = await post("begin", {});
      if (!begun.ok) return begun as CommandReply;
      const name = String(begun["person"]);
      const made = await created({
        challenge: bytes(begun["challenge"]),
        rp: { id: String(begun["site"]), name: "Sage" },
        user: { id: crypto.getRandomValues(new Uint8Array(16)), name, displayName: name },
        pubKeyCredParams: [{ type: "public-key", alg: -7 }],
        authenticatorSelection: { userVerification: "required", residentKey: "discouraged" },
      });
      return made ? ((await post("add", made)) as CommandReply) : unfit();
    },
    async sign(response) {
      const asked = await post("ask", { response });
      if (!asked.ok) return asked as CommandReply<"respond">;
      const known = asked["credentials"] as string[];
      if (known.length === 0) return undefined;
      const assertion = await signed({
        challenge: bytes(asked["challenge"]),
        rpId: String(asked["site"]),
        userVerification: "required",
        allowCredentials: known.map((id) => ({ type: "public-key", id: bytes(id) })),
      });
      return assertion ? ((await post("answer", { response, assertion })) as CommandReply<"respond">) : unfit();
    },
  };
}

async function created(publicKey: PublicKeyCredentialCreationOptions) {
  const made = (await navigator.credentials.create({ publicKey }).catch(() => null)) as PublicKeyCredential | null;
  if (!made) return undefined;
  const { clientDataJSON, getAuthenticatorData } = made.response as AuthenticatorAttestationResponse;
  return { client: text(clientDataJSON), authenticator: text(getAuthenticatorData.call(made.response)) };
}

async function signed(publicKey: PublicKeyCredentialRequestOptions) {
  const found = (await navigator.credentials.get({ publicKey }).catch(() => null)) as PublicKeyCredential | null;
  if (!found) return undefined;
  const { clientDataJSON, authenticatorData, signature } = found.response as AuthenticatorAssertionResponse;
  return {
    credential: text(found.rawId),
    client: text(clientDataJSON),
    authenticator: text(authenticatorData),
    signature: text(signature),
  };
}

/** The person said no to their browser, or it has no passkey. */
function unfit() {
  return refusalOf(new SageError("not-permitted", reason("passkey-unfit", {})));
}

function text(given: ArrayBuffer): string {
  const plain = btoa(String.fromCharCode(...new Uint8Array(given)));
  return plain.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytes(given: unknown): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(String(given).replaceAll("-", "+").replaceAll("_", "/")), (letter) =>
    letter.charCodeAt(0),
  );
}
