import { networkInterfaces } from "node:os";
import { BlockList, isIPv4, isIPv6 } from "node:net";

/** This machine and its nearest surroundings: reached only where a rule names the very address. */
export function isLocal(address: string): boolean {
  return isIn(local, address);
}

/**
 * An address that this machine has in a network: by it, it reaches itself past its firewall. A person may allow the address, which
 * they see; a name that leads there is refused. Networks come and go, so they are asked each time.
 */
export function isOwn(address: string): boolean {
  const own = new BlockList();
  for (const one of Object.values(networkInterfaces()).flatMap((all) => all ?? []))
    own.addAddress(one.address, one.family === "IPv4" ? "ipv4" : "ipv6");
  return isIn(own, address);
}

/** A network that is not the public one: reached only where a rule names the host. */
export function isPrivate(address: string): boolean {
  return isIn(privately, address);
}

function isIn(list: BlockList, address: string): boolean {
  const plain = address.replace(/%.*$/, "");
  if (isIPv4(plain)) return list.check(plain, "ipv4");
  if (!isIPv6(plain)) return true;
  const mapped = mappedIn(plain);
  return mapped === undefined ? list.check(plain, "ipv6") : list.check(mapped, "ipv4");
}

/** A `BlockList` with the range of mapped addresses would refuse every IPv4 address: so they are taken apart here. */
function mappedIn(address: string): string | undefined {
  const whole = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const digits = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(whole);
  if (digits === null) return undefined;
  const [high, low] = [Number.parseInt(digits[1]!, 16), Number.parseInt(digits[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

const local = new BlockList();
for (const [range, bits] of [
  ["0.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["224.0.0.0", 3],
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
] as const)
  local.addSubnet(range, bits, "ipv4");
for (const [range, bits] of [
  ["::", 127],
  ["fe80::", 10],
  ["ff00::", 8],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
  ["fd00:ec2::254", 128],
] as const)
  local.addSubnet(range, bits, "ipv6");

const privately = new BlockList();
for (const [range, bits] of [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
] as const)
  privately.addSubnet(range, bits, "ipv4");
for (const [range, bits] of [
  ["fc00::", 7],
  ["fec0::", 10],
] as const)
  privately.addSubnet(range, bits, "ipv6");
