/** As much of Playwright's `chromium` as the question needs. */
interface ConnectsOverCdp {
  connectOverCDP(endpoint: object): Promise<unknown>;
}

const answers = new WeakMap<object, Promise<boolean>>();

/**
 * Whether this Playwright's `connectOverCDP` takes a transport (1.61 and later do). Found by offering it an object that
 * is no endpoint and almost a transport: a Playwright that knows transports looks for its `send`, an older one does
 * not. Both then find nothing to connect to and reject before anything is started, and before there is a step in the
 * test's report. Asked once per `chromium`; never rejects.
 */
export function supportsTransport(chromium: ConnectsOverCdp): Promise<boolean> {
  const known = answers.get(chromium);
  if (known) return known;
  const answer = probe(chromium);
  answers.set(chromium, answer);
  return answer;
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
    // There was no address in it, as meant.
  }
  return askedForSend;
}
