const TIMEOUT_MS = 5_000;

/** Gives the addresses of a host name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** Addresses of the host of this address, as the operating system finds them. A host that is an address already is asked of nobody. */
export async function addressesOf(url: URL, signal: AbortSignal, lookup: Lookup = systemLookup): Promise<string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const { isIP } = process.getBuiltinModule("node:net");
  if (isIP(host) !== 0) return [host];
  const late = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const found = await Promise.race([lookup(host), aborted(late)]);
  const addresses = found.filter((address) => isIP(address) !== 0);
  if (addresses.length === 0) throw new Error(`${host} has no address`);
  return addresses;
}

async function systemLookup(host: string): Promise<string[]> {
  const { lookup } = process.getBuiltinModule("node:dns").promises;
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(signal.reason as Error);
    if (signal.aborted) fail();
    signal.addEventListener("abort", fail, { once: true });
  });
}
