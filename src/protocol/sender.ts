/** Proof that a yes comes from where code of the account that runs Sage cannot give it: a paired device that is another machine. */
export type Signing = "device";

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
  /** Name of the device that they hold, where a surface knows more than one of a person. */ device?: string;
};
