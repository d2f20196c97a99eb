import { expect, test } from '../../support/e2e/fixtures.ts';
import { brokerOf } from '../../support/e2e/process-tree.ts';
import { STAYS } from '../../support/e2e/suites.ts';
import { poolwright } from '../../support/run-cli.ts';

/** A provider of the user's. It gets its browsers from the service of the test, which thus sees what is left. */

test.use({ browsers: 'stub' });

/** `more`: statements of the file, and of `acquire` and `release`. */
const provider = ({ file = '', acquire = '', release = '' } = {}) => `
import { defineProvider, ProviderError } from 'poolwright/provider';

interface Session { sessionId: string; cdpUrl: string; note: string; bandwidthBytes?: number }

async function call(method: string, path: string, body?: object): Promise<Session & { sessions: Session[] }> {
  const response = await fetch(process.env.POOLWRIGHT_BASE_URL + '/v1/browser/' + path, {
    method,
    headers: { authorization: 'Bearer ' + process.env.POOLWRIGHT_API_KEY, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.status === 403) throw new ProviderError('LIMIT_REACHED', 'all are in use');
  if (!response.ok) throw new ProviderError('UNAVAILABLE', 'status ' + response.status);
  return await response.json();
}
${file}

export default defineProvider({
  async acquire({ label, project, signal }) {
    ${acquire}
    const { sessionId, cdpUrl } = await call('POST', 'session', { note: label });
    console.log('ACQUIRED for [' + project + '] ' + signal.aborted);
    return { id: sessionId, cdpUrl, expiresAt: new Date(Date.now() + 600_000), headers: { 'x-key': 's3cret-word' } };
  },
  async release(id, reason) {
    ${release}
    await call('DELETE', 'session?sessionId=' + id);
    console.log('RELEASED ' + reason);
  },
  async list() {
    const { sessions } = await call('GET', 'sessions?status=active');
    return sessions.map(({ sessionId, note }) => ({ id: sessionId, label: note }));
  },
  async usage(id) {
    return (await call('GET', 'session?sessionId=' + id)).bandwidthBytes ?? null;
  },
  limit: async () => 2,
});
`;

const THREE = Object.fromEntries(
  ['a', 'b', 'c'].map((name) => [name, `test('${name}', async ({ page }) => { await page.goto('about:blank'); });`]),
);
const OPTION = `{ provider: './browsers.ts' }`;

test('a run on a provider: workers wait at its limit, and the record has what it knows', async ({
  runSuite,
  service,
}) => {
  const { output, record, consumer } = await runSuite({
    tests: THREE,
    options: OPTION,
    args: ['--workers=3'],
    files: { 'browsers.ts': provider() },
  });
  expect(output).toContain('poolwright: browsers of browsers.ts');
  expect(output).toContain('3 workers want 3 browsers, and the plan allows 2 at once');
  expect(output).toContain('ACQUIRED for [] false');
  expect(output).toMatch(/RELEASED (finished|idle|run-ended)/);
  expect(output).toContain('3 passed');
  const { sessions, service: from } = await record();
  expect(from).toBe('provider');
  expect(sessions.flatMap(({ tests }) => tests)).toHaveLength(3);
  for (const session of sessions)
    expect(session).toMatchObject({ endConfirmed: true, bandwidthBytes: expect.any(Number) });
  const log = await consumer.read('test-results/poolwright/broker.log');
  expect(log + output).not.toMatch(/s3cret-word|\/cdp\//);
  expect(await service.running()).toEqual([]);
});

const WRONG = {
  absent: { file: './none.ts', says: 'does not exist' },
  half: { text: 'export default { acquire() {} };', says: 'the provider of browsers.ts lacks the function `release`' },
  refused: {
    text: `export default { acquire() {}, release() {}, list() { throw { code: 'UNAUTHORIZED', message: 'no' } } };`,
    says: 'browsers.ts: ',
  },
};
for (const [name, { text = '', file = './browsers.ts', says }] of Object.entries({ ...WRONG } as Record<
  string,
  { text?: string; file?: string; says: string }
>)) {
  test(`one clear error before any test: ${name}`, async ({ runSuite }) => {
    const options = `{ provider: '${file}' }`;
    const { output } = await runSuite({ tests: THREE, options, files: { 'browsers.ts': text }, code: 1 });
    expect(output).toContain(says);
    expect(output).not.toContain('passed');
    expect(output).not.toMatch(/✓|✘/);
  });
}

test('what a provider throws, prints and leaves unhandled ends neither the run nor its clean-up', async ({
  runSuite,
  service,
}) => {
  const { output } = await runSuite({
    tests: THREE,
    options: OPTION,
    args: ['--workers=1'],
    files: {
      'browsers.ts': provider({
        file: `let releases = 0; let acquires = 0; console.log('{"ok":false}');`,
        acquire: `if (++acquires === 1) throw new Error('not yet'); setTimeout(() => { throw new Error('STRAY'); }, 10);`,
        release: `console.log('x'.repeat(200_000)); if (++releases === 1) throw new TypeError('odd');`,
      }),
    },
  });
  expect(output).toContain('3 passed');
  expect(await service.running()).toEqual([]);
});

test('a provider that ends the broker: another one takes over, and nothing is left', async ({ runSuite, service }) => {
  const { output } = await runSuite({
    tests: { a: `test('a', async ({ page }) => { await page.goto('about:blank'); });` },
    options: OPTION,
    files: {
      'browsers.ts': provider({
        file: `import { existsSync, writeFileSync } from 'node:fs';`,
        release: `if (!existsSync('exited')) { writeFileSync('exited', ''); process.exit(3); }`,
      }),
    },
    args: ['--workers=1'],
  });
  expect(output).toContain('the broker of this run died (exit code 3); another one takes over');
  expect(output).toContain('1 passed');
  expect(await service.running()).toEqual([]);
});

test('a killed broker and a killed runner leave nothing; `sweep` finds what a dead machine left', async ({
  startSuite,
  service,
}) => {
  const files = { 'browsers.ts': provider() };
  const run = await startSuite({ tests: STAYS, options: OPTION, files, args: ['--workers=1'] });
  await run.printed(/WORKER \d+/);
  const broker = brokerOf(run.child.pid ?? 0);
  expect(await service.running()).toHaveLength(1);
  process.kill(-(run.child.pid ?? 0), 'SIGKILL');
  process.kill(broker, 'SIGKILL');
  await run.exit;
  expect(await service.running()).toHaveLength(1);
  const env = { ...service.env, POOLWRIGHT_PROVIDER: 'browsers.ts' };
  const swept = await poolwright(['sweep'], env, run.consumer.directory);
  expect(swept.stdout).toMatch(/stopped .* \(run local-/);
  expect(await service.running()).toEqual([]);
});
