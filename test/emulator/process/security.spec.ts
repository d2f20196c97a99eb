import crypto from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { connect as connectSocket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { LIMITS } from '../../../src/service/limits.ts';
import { startCli } from '../../support/cli-process.ts';
import { Api } from '../../support/emulator/api.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { handshake } from '../../support/emulator/handshake.ts';
import { ManualClock } from '../../support/emulator/manual-clock.ts';
import { rawRequest } from './raw-request.ts';

/**
 * One block for each security guarantee of the emulator. Other specs cover the rest:
 * keys and workspaces in authentication.spec.ts; wrong tokens, and a CDP address after a stop, in cdp-relay.spec.ts;
 * paths that leave a ZIP, links and ZIP bombs in extensions.spec.ts; secrets in the log in log-secrets.spec.ts.
 */

const ADDRESSES = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  .map(({ address }) => address);
/** Another loopback address than the one it listens on. Other systems than Linux must configure it first. */
const OTHERS = [...ADDRESSES, ...(process.platform === 'linux' ? ['127.0.0.2'] : [])];

/** Whether a process listens there; else the error's code. */
function knock(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectSocket({ host, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve('open');
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'error'));
  });
}

const inBrackets = (host: string) => (host.includes(':') ? `[${host}]` : host);

test.describe('loopback only, unless a second flag allows more', () => {
  test('does not listen on other addresses', async ({ start }) => {
    for (const options of [{}, { allowRemote: true }, { host: 'localhost' }]) {
      const { port, baseURL } = await start({ browser: 'stub', ...options });
      expect((await fetch(`${baseURL}/doc`)).status).toBe(200);
      for (const host of OTHERS) expect([host, await knock(host, port)]).toEqual([host, 'ECONNREFUSED']);
    }
  });

  for (const host of ['0.0.0.0', '::', '192.0.2.1', 'machine.example']) {
    test(`${host} alone is refused, with the second flag in the message`, async ({ start }) => {
      await expect(start({ browser: 'stub', host })).rejects.toMatchObject({
        name: 'OptionsError',
        field: 'host',
        message: expect.stringMatching(/other machines reach .*allowRemote \(--allow-remote\)/),
      });
    });
  }

  test('--host alone is bad usage; with --allow-remote it works', async () => {
    const refused = await startCli(['emulator', '--host', '0.0.0.0', '--json']);
    expect(await refused.exit).toBe(2);
    expect(refused.answer).toMatchObject({
      error: { code: 'OPTIONS_INVALID', message: expect.stringContaining('--allow-remote') },
    });
    const served = await startCli(['emulator', '--host', '0.0.0.0', '--allow-remote', '--json']);
    const { port, baseURL } = served.answer;
    expect(baseURL).toBe(`http://127.0.0.1:${port}`);
    for (const host of OTHERS.filter((each) => !each.includes(':'))) expect(await knock(host, port)).toBe('open');
    expect(await served.stop()).toBe(0);
  });

  test('each client gets a CDP address that it can reach when both flags are set', async ({ start, connect }) => {
    const { port, apiKey } = await start({ browser: 'stub', host: '0.0.0.0', allowRemote: true });
    for (const host of ['127.0.0.1', ...OTHERS.filter((each) => !each.includes(':'))]) {
      const { body } = await new Api(`http://${host}:${port}`, apiKey).create();
      expect(new URL(body.cdpUrl).host).toBe(`${host}:${port}`);
      expect(await (await connect(body.cdpUrl)).version()).toMatch(/\d/);
    }
  });
});

test('compares every key in the same number of steps', async ({ start }) => {
  const apiKey = 'key-of-the-first-workspace';
  const workspaces = [{ apiKey }, { apiKey: 'key-2' }, { apiKey: 'key-3' }];
  const { baseURL } = await start({ browser: 'stub', workspaces });
  const compared: [number, number][] = [];
  const original = crypto.timingSafeEqual;
  crypto.timingSafeEqual = (a, b) => {
    compared.push([a.byteLength, b.byteLength]);
    return original(a, b);
  };
  syncBuiltinESMExports();
  try {
    for (const key of [apiKey, 'key-3', 'k', apiKey.slice(0, -1), `${apiKey}x`, 'x'.repeat(5_000)]) {
      compared.length = 0;
      const { status } = await new Api(baseURL, key).get('/sessions');
      expect([key, status]).toEqual([key, workspaces.some((each) => each.apiKey === key) ? 200 : 401]);
      expect(compared).toEqual([
        [32, 32],
        [32, 32],
        [32, 32],
      ]);
    }
  } finally {
    crypto.timingSafeEqual = original;
    syncBuiltinESMExports();
  }
});

test.describe('the Host header, against DNS rebinding', () => {
  const FOREIGN = ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '192.0.2.1', '0.0.0.0', '[::]'];
  const OWN = ['127.0.0.1', 'localhost', 'LOCALHOST', 'localhost.', '[::1]', '127.8.8.8'];

  test('a foreign one is refused first, for API, description, faults and CDP', async ({ start }) => {
    const { port, apiKey, api } = await start({ browser: 'stub' });
    const { cdpUrl } = (await api.create()).body;
    const requests: [string, string][] = [
      ['POST', '/v1/browser/session'],
      ['GET', '/v1/browser/sessions'],
      ['GET', '/doc'],
      ['DELETE', '/__emulator/faults'],
      ['GET', '/'],
    ];
    for (const host of FOREIGN.flatMap((name) => [name, `${name}:${port}`])) {
      for (const [method, path] of requests) {
        const { status, body } = await rawRequest(port, method, path, { host, authorization: `Bearer ${apiKey}` });
        expect([host, path, status]).toEqual([host, path, 403]);
        expect(JSON.parse(body)).toEqual({ error: expect.stringMatching(/^Forbidden: the Host header/) });
      }
      expect([host, (await handshake(cdpUrl, { host })).status]).toEqual([host, 403]);
    }
    expect((await api.get('/sessions')).body.total).toBe(1);
  });

  test('a request without one is refused, too', async ({ start }) => {
    const { port } = await start({ browser: 'stub' });
    const socket = connectSocket({ host: '127.0.0.1', port });
    socket.write('GET /doc HTTP/1.0\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.\d 403 /);
  });

  test('every loopback name is accepted, with any port', async ({ start }) => {
    const { port, apiKey, api } = await start({ browser: 'stub' });
    const { cdpUrl } = (await api.create()).body;
    for (const host of OWN.flatMap((name) => [name, `${name}:${port}`, `${name}:1`])) {
      const headers = { host, authorization: `Bearer ${apiKey}` };
      expect([host, (await rawRequest(port, 'GET', '/v1/browser/sessions', headers)).status]).toEqual([host, 200]);
      expect([host, (await handshake(cdpUrl, { host })).status]).toEqual([host, 101]);
    }
  });

  test("addresses and the machine's name are accepted when remote connections are allowed", async ({ start }) => {
    const { port } = await start({ browser: 'stub', host: '0.0.0.0', allowRemote: true });
    for (const host of [...ADDRESSES.map(inBrackets), '192.0.2.1', '[2001:db8::1]:80', 'localhost']) {
      expect([host, (await rawRequest(port, 'GET', '/doc', { host })).status]).toEqual([host, 200]);
    }
    for (const host of ['evil.example', `evil.example:${port}`, '192.0.2.1.evil.example']) {
      expect([host, (await rawRequest(port, 'GET', '/doc', { host })).status]).toEqual([host, 403]);
    }
  });
});

test.describe('CDP tokens', () => {
  test('are 256 random bits, sent only to the workspace', async ({ start }) => {
    const { baseURL, api } = await start({
      browser: 'stub',
      concurrentBrowsers: 200,
      workspaces: [{ apiKey: 'key-a' }, { apiKey: 'key-b' }],
    });
    const created = await Promise.all(Array.from({ length: 200 }, () => api.create()));
    const tokens = created.map(({ body }) => body.cdpUrl.split('/cdp/')[1] as string);
    expect(new Set(tokens).size).toBe(200);
    const bytes = tokens.map((token) => Buffer.from(token, 'base64url'));
    for (const each of bytes) expect(each).toHaveLength(32);
    // Each bit is set about as often as not: 200 fair coins lie outside of 50 to 150 once in 10^12 times.
    for (let bit = 0; bit < 256; bit++) {
      const ones = bytes.filter((each) => ((each[bit >> 3] ?? 0) >> (bit & 7)) & 1).length;
      expect(Math.abs(ones - 100)).toBeLessThan(50);
    }
    const [first] = created;
    const seen = JSON.stringify(await new Api(baseURL, 'key-b').get('/sessions'));
    expect(seen).not.toContain(tokens[0]);
    // No other data of a session contains it.
    for (const guess of [first?.body.sessionId, first?.body.sessionId.slice(4), tokens[0]?.slice(0, -1), '']) {
      expect((await handshake(`${baseURL}/cdp/${guess}`)).status).toBe(404);
    }
  });

  test('expire with the session, however it ends', async ({ start }) => {
    const clock = new ManualClock();
    const { api } = await start({ browser: 'stub' }, clock);
    const { id } = (await api.post('/pools', { name: 'p', size: 1, leaseTimeoutSeconds: 30 })).body;
    const act = (action: string) => (sessionId: string) =>
      api.call('POST', `/__emulator/sessions/${sessionId}/${action}`);
    const expire = async () => clock.advance(60_000);
    const lease = async () => (await api.post(`/pools/${id}/acquire`, { waitMs: 30_000 })).body;
    const create = async () => (await api.create({ duration: 60 })).body;
    interface Made {
      sessionId: string;
      cdpUrl: string;
      leaseId?: string;
    }
    const ends: [string, () => Promise<Made>, (sessionId: string, leaseId?: string) => Promise<unknown>][] = [
      ['stop', create, (sessionId) => api.stop(sessionId)],
      ['duration', create, expire],
      ['crash', create, act('crash')],
      ['end over the control', create, act('end')],
      ['release', lease, (_, leaseId) => api.post(`/pools/${id}/release`, { leaseId })],
      ['lease timeout', lease, expire],
      ['deletion of the pool', lease, () => api.delete(`/pools/${id}?force=true`)],
    ];
    for (const [what, make, end] of ends) {
      const { sessionId, leaseId, cdpUrl } = await make();
      expect([what, (await handshake(cdpUrl)).status]).toEqual([what, 101]);
      await end(sessionId, leaseId);
      await expect.poll(async () => (await api.session(sessionId)).body.cdpUrl).toBeNull();
      expect([what, (await handshake(cdpUrl)).status]).toEqual([what, 410]);
    }
  });
});

test.describe('uploads', () => {
  const CHUNK = Buffer.alloc(1024 ** 2);
  const tooLarge = { error: `extension: larger than ${LIMITS.extensionBytes.max} bytes` };

  /** A form with a file of this size, generated while it is sent. */
  async function* form(bytes: number) {
    yield Buffer.from('--b\r\nContent-Disposition: form-data; name="extension"; filename="e.zip"\r\n\r\n');
    for (let sent = 0; sent < bytes; sent += CHUNK.length) yield CHUNK;
    yield Buffer.from('\r\n--b--\r\n');
  }

  for (const [how, isChunked] of [
    ['declares its length', false],
    ['does not declare its length', true],
  ] as const) {
    test(`a body that is too large and ${how} is refused, and is not kept`, async ({ start }) => {
      const { port, apiKey, api } = await start({ browser: 'stub' });
      const bytes = LIMITS.extensionBytes.max + CHUNK.length;
      const headers = {
        host: 'localhost',
        authorization: `Bearer ${apiKey}`,
        'content-type': 'multipart/form-data; boundary=b',
        ...(isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(bytes + 100) }),
      };
      // The content length allows 100 bytes for the form around the file; padding fills up the rest.
      const body = async function* () {
        let left = bytes + 100;
        for await (const chunk of form(bytes)) {
          left -= chunk.length;
          yield chunk;
        }
        if (!isChunked) yield Buffer.alloc(left);
      };
      const answer = await rawRequest(port, 'POST', '/v1/browser/extensions', headers, body());
      expect([answer.status, JSON.parse(answer.body)]).toEqual([400, tooLarge]);
      expect((await api.get('/extensions')).body).toEqual({ extensions: [] });
    });
  }
});

test('programs are started without a shell, except one fixed script', () => {
  const root = join(import.meta.dirname, '../../../src');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const findings: string[] = [];
  let starters = 0;
  for (const file of files) {
    const source = readFileSync(join(root, file), 'utf8');
    const found = (what: string) => findings.push(`${file}: ${what}`);
    for (const [, names = ''] of source.matchAll(/import\s+(.*?)\s+from\s+'(?:node:)?child_process'/gs)) {
      starters++;
      const values = names
        .replace(/[{}\s]/g, ' ')
        .split(',')
        .map((name) => name.trim());
      // `execFile` and `spawn` take a program and its arguments; `exec`, a namespace or `fork`'s options could hide a
      // shell.
      const allowed = /^(type\s+\w+|spawn|spawnSync|execFile|execFileSync|fork|)$/;
      for (const name of values) if (!allowed.test(name)) found(`imports ${name} of child_process`);
    }
    if (/(require|import)\(\s*['"](?:node:)?child_process/.test(source)) found('loads child_process in passing');
    // In other files, `shell` is the headless shell.
    if (/child_process/.test(source) && /\bshell\s*:/.test(source)) found('shell:');
    // A constant script, which gets its input as arguments.
    const fixed = /^const SCRIPT =\s+'[^']*';$/m.test(source)
      ? source.replace("['sh', '-c', SCRIPT, 'sh',", '[')
      : source;
    if (/['"`](?:\/bin\/)?(?:sh|bash|zsh|dash|cmd(?:\.exe)?|powershell(?:\.exe)?)['"`]/.test(fixed))
      found('names a shell');
  }
  expect(findings).toEqual([]);
  // Otherwise the pattern above has missed the existing ones.
  expect(starters).toBeGreaterThanOrEqual(5);
});
