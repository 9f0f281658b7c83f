import { isIP } from "node:net";
import { networkInterfaces } from "node:os";

/** Loopback of IPv4 as a socket for both versions names it. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:/, "");

/** An address of this machine is everybody's on it, and so is a proxy's: in doubt it is not elsewhere. */
export function isElsewhere(address: string, own = networkInterfaces()): boolean {
  const from = plainAddress(address).split("%")[0] ?? "";
  if (isIP(from) === 0 || from === "::1" || from.startsWith("127.") || from === "0.0.0.0" || from === "::")
    return false;
  return !Object.values(own).some((all) => all?.some((each) => each.address.split("%")[0] === from));
}
