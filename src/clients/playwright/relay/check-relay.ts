import * as v from 'valibot';
import { errorMessage } from '../../../common/error-message.ts';
import { LeaseError, OptionsError } from '../../../errors.ts';
import { printable } from '../../../printable.ts';
import { redactText } from '../../../redact.ts';
import { minorVersion, missingVersion, RELAY_PROTOCOL, relayStatus, STATUS_PATH } from '../../../relay/protocol.ts';
import { issueRelayToken, RELAY_SECRET } from '../../../relay/relay-token.ts';

/** Time limit for the relay's response, in ms. */
const TIMEOUT_MS = 15_000;

/**
 * Checks, before any test, that a relay responds, has the same secret, and has this version of Playwright.
 * @param version of Playwright
 * @throws OptionsError, LeaseError `CONNECT_FAILED`
 */
export async function checkRelay(address: string, version: string, secret: string | undefined): Promise<void> {
  const { host } = new URL(address);
  if (!secret) throw secretMissing();
  const { status, body } = await ask(address, secret).catch((error) => {
    throw new LeaseError('CONNECT_FAILED', `The relay ${host} does not respond: ${redactText(causeOf(error))}`);
  });
  if (status === 401)
    throw new OptionsError(RELAY_SECRET, `The relay ${host} refuses this run: ${redactText(printable(body))}`);
  const found = v.safeParse(v.pipe(v.string(), v.parseJson(), relayStatus), body);
  if (status !== 200 || !found.success || found.output.protocol !== RELAY_PROTOCOL) {
    throw new OptionsError('relay', `${host} is not a relay of this version of poolwright (HTTP ${status}).`);
  }
  const wanted = minorVersion(version) ?? version;
  const { versions } = found.output;
  if (!versions.includes(wanted))
    throw new OptionsError('relay', `${host}: ${printable(missingVersion(wanted, versions))}`);
}

/** The secret is not set where the tests run. */
export function secretMissing(): OptionsError {
  return new OptionsError(
    RELAY_SECRET,
    `\`relay\` needs the variable ${RELAY_SECRET}, with the same value as at the relay.`,
    'ENVIRONMENT_MISSING',
  );
}

async function ask(address: string, secret: string): Promise<{ status: number; body: string }> {
  const url = new URL(STATUS_PATH, address.replace(/^ws/, 'http'));
  const response = await fetch(url, {
    // For no browser.
    headers: { authorization: `Bearer ${issueRelayToken(secret, '')}` },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return { status: response.status, body: await response.text() };
}

/** `fetch` itself says only that it failed. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return errorMessage(cause ?? error);
}
