import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

export const UP = 0x01;
export const UV = 0x04;
const AT = 0x40;

export type Told = {
  origin: string;
  challenge: string;
  type?: string;
  site?: string;
  flags?: number;
  counter?: number;
};

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest();
export const b64 = (data: string | Buffer) => Buffer.from(data).toString("base64url");

/** An authenticator without a person: it signs what it is told, right or wrong. */
export function softPasskey(id = randomBytes(16)) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const point = Buffer.concat([x, y].map((half) => Buffer.from(half, "base64url")));
  const client = (type: string, { origin, challenge }: Told) =>
    JSON.stringify({ type, challenge, origin, crossOrigin: false });
  const head = ({ origin, site = new URL(origin).hostname, counter = 0 }: Told, flags: number) => {
    const rest = Buffer.alloc(5);
    rest[0] = flags;
    rest.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(site), rest]);
  };
  return {
    credential: b64(id),
    publicKey: b64(point),
    attest(told: Told, cose?: Buffer) {
      const key = Buffer.from(
        `a5010203262001215820${point.toString("hex", 0, 32)}225820${point.toString("hex", 32)}`,
        "hex",
      );
      const length = Buffer.from([id.length >> 8, id.length & 255]);
      const parts = [head(told, (told.flags ?? UP | UV) | AT), Buffer.alloc(16), length, id, cose ?? key];
      return { client: b64(client(told.type ?? "webauthn.create", told)), authenticator: b64(Buffer.concat(parts)) };
    },
    assert(told: Told) {
      const said = client(told.type ?? "webauthn.get", told);
      const data = head(told, told.flags ?? UP | UV);
      const signature = sign("sha256", Buffer.concat([data, sha256(said)]), privateKey);
      return { credential: b64(id), client: b64(said), authenticator: b64(data), signature: b64(signature) };
    },
  };
}
