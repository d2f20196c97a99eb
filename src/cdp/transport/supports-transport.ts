/** The part of Playwright's `chromium` that is needed here. */
interface ConnectsOverCdp {
  connectOverCDP(endpoint: object): Promise<unknown>;
}

const supports = new WeakMap<object, Promise<boolean>>();

/**
 * Whether this Playwright's `connectOverCDP` accepts a transport (since 1.61). It tries an object that is neither an
 * endpoint nor quite a transport: a Playwright that supports transports reads its `send`, an older one does not. Both
 * then reject, because there is nothing to connect to, before anything starts and before a step appears in the test's
 * report. Probes once per `chromium`; never rejects.
 */
export function supportsTransport(chromium: ConnectsOverCdp): Promise<boolean> {
  const known = supports.get(chromium);
  if (known) return known;
  const supported = probe(chromium);
  supports.set(chromium, supported);
  return supported;
}

async function probe(chromium: ConnectsOverCdp): Promise<boolean> {
  let askedForSend = false;
  const almostTransport = {
    get send(): undefined {
      askedForSend = true;
      return undefined;
    },
  };
  try {
    await chromium.connectOverCDP(almostTransport);
  } catch {
    // Expected: there is no address in it.
  }
  return askedForSend;
}
