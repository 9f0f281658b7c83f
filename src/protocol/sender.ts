/** A passkey's signature as the browser gives it, in base64url: the id of the passkey, and what was signed. */
export type Assertion = { credential: string; client: string; authenticator: string; signature: string };

/** A yes that a passkey signed, with all that checking it again takes. `device`: id of the device that the passkey belongs to. */
export type PasskeyProof = Assertion & { device: string; publicKey: string; nonce: string; origin: string };

/** Proof that a yes comes from where code of the account that runs Sage cannot give it: a paired device that is another machine, or a passkey. */
export type Signing = "device" | PasskeyProof;

/**
 * The person who sends a command, and the surface they are at. `person` is an id of the settings' list of people, such as `feishu:ou_1`;
 * a surface sets it where many people speak, so that the host can check what they may do. Facts hold the name.
 */
export type Sender = {
  by: string;
  surface: string;
  person?: string;
  /** Set by the host alone: proof that this comes from somewhere else. */
  signed?: Signing;
  /** Set by the host alone: what a command of this machine showed on its terminal was typed there. */
  typed?: true;
  /** Name of the device that they hold, where a surface knows more than one of a person. */ device?: string;
};
