import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { brokerOf } from '../../support/e2e/process-tree.ts';
import { providerFile } from '../../support/e2e/provider-file.ts';
import { runPlaywright } from '../../support/e2e/run-playwright.ts';
import { STAYS } from '../../support/e2e/suites.ts';
import { slowIf } from '../../support/property-runs.ts';
import { poolwright } from '../../support/run-cli.ts';

/** A provider of the user's. It gets its browsers from the service of the test, which thus sees what is left. */

test.use({ browsers: 'stub' });

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
    files: { 'browsers.ts': providerFile() },
  });
  expect(output).toContain('poolwright: browsers of browsers.ts');
  expect(output).toContain('3 workers want 3 browsers, and browsers.ts allows 2 at once');
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
  // From the next run on, its limit is known.
  const next = await runPlaywright(consumer, [], service.env);
  expect(next.output).toContain('poolwright: 2 workers: browsers.ts allows 2 browsers at once');
  expect(await service.running()).toEqual([]);
});

/** A server before the service's CDP endpoints, which keeps the headers that it gets. */
async function startGate(): Promise<{ url: string; keys: unknown[]; close(): void }> {
  const keys: unknown[] = [];
  const sockets = new Set<Socket>();
  const gate = createServer().on('upgrade', (request, socket: Socket, head) => {
    const target = new URL(request.url ?? '', 'http://gate');
    const to = new URL(target.searchParams.get('to') ?? '');
    keys.push(request.headers['x-key']);
    const onward = connect(Number(to.port), to.hostname, () => {
      onward.write(`GET ${to.pathname}${to.search} HTTP/1.1\r\nHost: ${to.host}\r\n`);
      for (const [name, value] of Object.entries(request.headers))
        if (name !== 'host') onward.write(`${name}: ${value}\r\n`);
      onward.write('\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    for (const each of [socket, onward]) {
      sockets.add(each);
      each.on('error', () => each.destroy());
    }
  });
  await once(gate.listen(0, '127.0.0.1'), 'listening');
  const close = () => {
    for (const socket of sockets) socket.destroy();
    gate.close();
  };
  return { url: `ws://127.0.0.1:${(gate.address() as AddressInfo).port}`, keys, close };
}

test('its headers are sent with every connection, and a browser is replaced before it expires', async ({
  runSuite,
}) => {
  const gate = await startGate();
  try {
    const { record } = await runSuite({
      // A test with its margin needs 55 s, and a browser lives for 60 s.
      config: 'timeout: 40_000,',
      tests: `for (const n of [1, 2]) test('test ' + n, async ({ page }) => {
        await page.goto('about:blank');
        await new Promise((resolve) => setTimeout(resolve, 6_000));
      });`,
      options: OPTION,
      args: ['--workers=1'],
      env: { GATE: gate.url },
      files: {
        'browsers.ts': providerFile({
          acquire: `const made = await call('POST', 'session', { note: label }, signal);
            return {
              id: made.sessionId,
              cdpUrl: process.env.GATE + '/?to=' + encodeURIComponent(made.cdpUrl),
              expiresAt: new Date(Date.now() + 60_000),
              headers: { 'x-key': 's3cret-word' },
            };`,
        }),
      },
    });
    const { sessions } = await record();
    const used = sessions.filter(({ tests }) => tests.length > 0);
    expect(used.map(({ endReason }) => endReason)).toEqual(['rolled-over', expect.any(String)]);
    expect(gate.keys.length).toBeGreaterThanOrEqual(2);
    expect(new Set(gate.keys)).toEqual(new Set(['s3cret-word']));
  } finally {
    gate.close();
  }
});

/** More of them: test/unit/providers/module/load-provider.spec.ts. */
const WRONG = {
  half: { text: 'export default { acquire() {} };', says: 'the provider of browsers.ts lacks the function `release`' },
  refused: {
    text: `export default { acquire() {}, release() {}, list() { throw { code: 'UNAUTHORIZED', message: 'no' } } };`,
    says: 'browsers.ts: ',
  },
};
for (const [name, { text, says }] of Object.entries(WRONG)) {
  test(`one clear error, and no test has a browser: ${name}`, slowIf(name === 'refused'), async ({ runSuite }) => {
    const { output } = await runSuite({ tests: THREE, options: OPTION, files: { 'browsers.ts': text }, code: 1 });
    expect(output).toContain(says);
    // On a slow machine, the first test may be interrupted while it waits for its browser.
    expect(output).not.toMatch(/✓|\d+ (passed|failed)/);
  });
}

test('TypeScript that Node cannot load as it is: the error says what to do', async ({ service }) => {
  // Elsewhere, as this repository has jiti; a package as `npm init` makes it.
  const directory = await mkdtemp(join(tmpdir(), 'pw-provider-'));
  try {
    await writeFile(join(directory, 'package.json'), '{ "type": "commonjs" }');
    await writeFile(join(directory, 'browsers.ts'), 'export default { acquire() {}, release() {} };');
    const { code, stderr } = await poolwright(
      ['sweep'],
      { ...service.env, POOLWRIGHT_PROVIDER: 'browsers.ts' },
      directory,
    );
    expect(stderr).toMatch(/browsers\.ts could not be loaded: .*(Node 20.* cannot load|name it browsers\.mts).*jiti/s);
    expect(code).toBe(2);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('what a provider prints is not in the JSON of `sweep` and `doctor`', async ({ newConsumer, service }) => {
  const prints = `console.log('PRINTED'); process.stdout.write('{"half":');`;
  const consumer = await newConsumer();
  await consumer.write({ 'browsers.ts': providerFile({ file: prints, acquire: prints, release: prints }) });
  for (const command of ['sweep', 'doctor']) {
    const env = { ...service.env, POOLWRIGHT_PROVIDER: 'browsers.ts' };
    const { stdout, stderr } = await poolwright([command, '--json'], env, consumer.directory);
    expect(stderr).toContain('PRINTED');
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    JSON.parse(stdout);
  }
});

test('what a provider throws, prints and leaves unhandled ends neither the run nor its clean-up', async ({
  runSuite,
  service,
}) => {
  const { output } = await runSuite({
    tests: THREE,
    options: OPTION,
    args: ['--workers=1'],
    files: {
      'browsers.ts': providerFile({
        file: `let releases = 0; let acquires = 0; console.log('{"ok":false}');`,
        acquire: `if (++acquires === 1) throw new Error('not yet'); setTimeout(() => { throw new Error('STRAY'); }, 10);`,
        release: `console.log('x'.repeat(200_000)); if (++releases === 1) throw new TypeError('odd');`,
      }),
    },
  });
  expect(output).toContain('3 passed');
  expect(await service.running()).toEqual([]);
});

test('a provider that ends its process: the run goes on, and nothing is left', async ({ runSuite, service }) => {
  const { output } = await runSuite({
    tests: { a: `test('a', async ({ page }) => { await page.goto('about:blank'); });` },
    options: OPTION,
    files: {
      'browsers.ts': providerFile({
        file: `import { existsSync, writeFileSync } from 'node:fs';`,
        release: `if (!existsSync('exited')) { writeFileSync('exited', ''); process.exit(3); }`,
      }),
    },
    args: ['--workers=1'],
  });
  expect(output).not.toContain('the broker of this run died');
  expect(output).toContain('1 passed');
  expect(await service.running()).toEqual([]);
});

test('a killed broker and a killed runner leave nothing; `sweep` finds what a dead machine left', async ({
  startSuite,
  service,
}) => {
  const files = { 'browsers.ts': providerFile() };
  const run = await startSuite({ tests: STAYS, options: OPTION, files, args: ['--workers=1'] });
  await run.printed(/WORKER \d+/);
  const broker = brokerOf(run.child.pid ?? 0);
  expect(await service.running()).toHaveLength(1);
  // First the broker: it gives back what a dead worker had.
  process.kill(broker, 'SIGKILL');
  process.kill(-(run.child.pid ?? 0), 'SIGKILL');
  await run.exit;
  expect(await service.running()).toHaveLength(1);
  const env = { ...service.env, POOLWRIGHT_PROVIDER: 'browsers.ts' };
  const swept = await poolwright(['sweep'], env, run.consumer.directory);
  expect(swept.stdout).toMatch(/stopped .* \(run local-/);
  expect(await service.running()).toEqual([]);
});
