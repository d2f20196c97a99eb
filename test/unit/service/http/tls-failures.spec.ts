import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from '@playwright/test';
import { Agent, Dispatcher } from 'undici';
import { ServiceError } from '../../../../src/errors.ts';
import { ServiceClient } from '../../../../src/service/index.ts';
import { API_KEY, failureOf } from '../../../support/unit/http-service.ts';

/**
 * A connection that is open may break with the same codes as a handshake; only the latter says that nothing was sent.
 */

/** Fails every request with this code, as undici does it: with `written`, behind the request on its connection. */
class BrokenConnection extends Dispatcher {
  requests = 0;

  constructor(
    private readonly code: string,
    private readonly written: boolean,
  ) {
    super();
  }

  override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.requests += 1;
    if (this.written) handler.onConnect?.(() => undefined);
    handler.onError?.(Object.assign(new Error('the TLS layer failed'), { code: this.code }));
    return true;
  }
}

const clientOf = (port: number, dispatcher: Dispatcher) =>
  new ServiceClient({
    baseURL: `https://localhost:${port}`,
    apiKey: API_KEY,
    dispatcher,
    sleep: async () => undefined,
  });

for (const code of [
  'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_TLS_RENEGOTIATE',
]) {
  test(`${code} behind the request: does not repeat the create, which may have had its effect`, async () => {
    const broken = new BrokenConnection(code, true);
    const failure = await failureOf(clientOf(443, broken).createSession({}), ServiceError);
    expect(failure.message).toContain(code);
    expect(failure.message).toContain('A browser may be running all the same');
    expect(broken.requests).toBe(1);
  });

  test(`${code} before the request is written: repeats the create once`, async () => {
    const broken = new BrokenConnection(code, false);
    const failure = await failureOf(clientOf(443, broken).createSession({}), ServiceError);
    expect(failure.message).toContain(code);
    expect(failure.message).not.toContain('may be running');
    expect(broken.requests).toBe(2);
  });
}

test('repeats the create once when a real handshake fails, because nothing was sent', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write('this is not a TLS record at all'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dispatcher = new Agent();
  const client = clientOf((server.address() as AddressInfo).port, dispatcher);
  try {
    const failure = await failureOf(client.createSession({}), ServiceError);
    expect(failure.message).toMatch(/ERR_SSL_/);
    expect(failure.message).not.toContain('may be running');
    expect(failure.attempts).toBe(2);
    expect(connections).toBe(2);
  } finally {
    await client.close();
    await dispatcher.destroy();
    server.close();
  }
});
