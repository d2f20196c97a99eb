import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { requires } from '../../support/requires.ts';

requires('Linux');

/**
 * Runs with a separate temporary directory, and returns what is left in it. Its name is short, because it contains
 * sockets.
 */
async function leftIn(run: () => Promise<void>): Promise<string[]> {
  const directory = await mkdtemp('/tmp/t-');
  const { TMPDIR } = process.env;
  process.env.TMPDIR = directory;
  try {
    await run();
    return readdirSync(directory);
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    await rm(directory, { recursive: true });
  }
}

test('a browser has a separate disk: neither sees what the other writes', async ({
  start,
  connect,
  directory,
  site,
}, testInfo) => {
  requires('unshare');
  const lines: string[] = [];
  const emulator = await start({ allowLoopback: true, onLog: (line) => lines.push(line) });
  const browser = await connect((await emulator.api.create()).body.cdpUrl);
  const page = await browser.newPage();
  expect(lines.join('\n')).not.toContain('share');
  const inProject = testInfo.outputPath('here.html');
  for (const path of [join(directory, 'here.html'), inProject]) {
    await writeFile(path, '<h1>of this machine</h1>');
    await expect(page.goto(`file://${path}`), path).rejects.toThrow('ERR_FILE_NOT_FOUND');
  }

  const session = await browser.newBrowserCDPSession();
  const place = join(directory, 'downloads');
  await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: place, eventsEnabled: true });
  const done = new Promise<void>((resolve) => {
    session.on('Browser.downloadProgress', ({ state }) => {
      if (state === 'completed') resolve();
    });
  });
  await (browser.contexts()[0]?.pages()[0] ?? page).evaluate(
    `Object.assign(document.createElement('a'), { href: 'data:text/plain,remote', download: 'there.txt' }).click()`,
  );
  await done;
  expect(existsSync(place)).toBe(false);
  // The file may get its name a moment later.
  await expect(() => page.goto(`file://${place}/there.txt`)).toPass({ timeout: 60_000 });
  expect(await page.textContent('body')).toBe('remote');

  // Another browser has another disk.
  const other = await (await connect((await emulator.api.create()).body.cdpUrl)).newPage();
  await expect(other.goto(`file://${place}/there.txt`)).rejects.toThrow('ERR_FILE_NOT_FOUND');
  expect(site.url).toContain('127.0.0.1');
});

for (const [name, parent] of Object.entries({ 'the temporary directory': tmpdir(), 'another place': homedir() })) {
  test(`an emulator that was started in ${name} gives a browser a separate disk`, async ({ start, connect }) => {
    requires('unshare');
    const project = await mkdtemp(join(parent, '.poolwright-test-'));
    const here = process.cwd();
    process.chdir(project);
    try {
      const lines: string[] = [];
      const emulator = await start({ onLog: (line) => lines.push(line) });
      const page = await (await connect((await emulator.api.create()).body.cdpUrl)).newPage();
      expect(lines.join('\n')).not.toContain('share');
      await writeFile('here.html', '');
      await expect(page.goto(`file://${project}/here.html`)).rejects.toThrow('ERR_FILE_NOT_FOUND');
    } finally {
      process.chdir(here);
      await rm(project, { recursive: true });
    }
  });
}

test('nothing is left when the browser ends, in any way', async ({ start }) => {
  requires('unshare');
  const left = await leftIn(async () => {
    const emulator = await start();
    const mounts = () => readFileSync('/proc/self/mounts', 'utf8').split('\n').length;
    const mountsBefore = mounts();
    await emulator.api.create();
    for (const pid of emulator.browserPids()) process.kill(pid, 'SIGKILL');
    await expect.poll(() => emulator.browserPids()).toEqual([]);
    const { sessionId } = (await emulator.api.create()).body;
    await emulator.api.stop(sessionId);
    await emulator.api.create();
    expect(mounts()).toBe(mountsBefore);
    await emulator.stop();
  });
  expect(left).toEqual([]);
});

test('logs once when the system does not support it, and leaves nothing', async ({ start, connect, directory }) => {
  const { PATH } = process.env;
  const lines: string[] = [];
  const left = await leftIn(async () => {
    const emulator = await start({ onLog: (line) => lines.push(line) });
    process.env.PATH = directory; // no unshare in it
    try {
      const sessions = [await emulator.api.create(), await emulator.api.create()];
      const page = await (await connect(sessions[0]?.body.cdpUrl)).newPage();
      await writeFile(join(directory, 'here.html'), '<h1>of this machine</h1>');
      await page.goto(`file://${join(directory, 'here.html')}`);
      expect(await page.textContent('h1')).toBe('of this machine');
    } finally {
      process.env.PATH = PATH;
    }
    for (const pid of emulator.browserPids()) process.kill(pid, 'SIGKILL');
    await emulator.stop();
  });
  expect(left).toEqual([]);
  expect(lines.filter((line) => line.includes("share this machine's disk"))).toEqual([
    "browsers share this machine's disk, as remote ones do not: downloads and uploads may work here and not there (spawn unshare ENOENT)",
  ]);
});

test('starts a browser when the temporary directory is too deep for a socket', async ({ start, directory }) => {
  const { PATH, TMPDIR } = process.env;
  const deep = join(directory, 'a'.repeat(15));
  await mkdir(deep);
  process.env.TMPDIR = deep;
  try {
    const emulator = await start();
    process.env.PATH = directory; // no unshare in it
    expect(await emulator.api.create()).toMatchObject({ status: 200 });
    await emulator.stop();
  } finally {
    Object.assign(process.env, { PATH, TMPDIR });
    if (TMPDIR === undefined) delete process.env.TMPDIR;
  }
});
