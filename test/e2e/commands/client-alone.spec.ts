import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '../../support/e2e/fixtures.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../../..');

const USE = `
const client = new ServiceClient({ baseURL: process.env.POOLWRIGHT_BASE_URL, apiKey: process.env.POOLWRIGHT_API_KEY });
const { sessionId } = await client.createSession({ note: 'alone' });
const notes = [];
for await (const { note } of client.iterateSessions({ status: 'active' })) notes.push(note);
await client.stopSession(sessionId);
await client.close();
let playwright = 'is there';
try { await import('@playwright/test'); } catch { playwright = 'is not there'; }
console.log(JSON.stringify({ notes, playwright }));`;

test('poolwright/client › works without Playwright, as an ES module and in CommonJS', async ({ service }) => {
  // Outside the repository: no directory above it has a node_modules with Playwright.
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-alone-'));
  try {
    const { name, dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const modules = join(directory, 'node_modules');
    for (const entry of ['package.json', 'dist']) {
      await cp(join(root, entry), join(modules, name, entry), { recursive: true });
    }
    for (const dependency of Object.keys(dependencies)) {
      const place = join(modules, dependency);
      await mkdir(dirname(place), { recursive: true });
      await symlink(join(root, 'node_modules', dependency), place, 'junction');
    }
    await writeFile(join(directory, 'a.mjs'), `import { ServiceClient } from 'poolwright/client';${USE}`);
    await writeFile(
      join(directory, 'b.cjs'),
      `const { ServiceClient } = require('poolwright/client');(async () => {${USE}})();`,
    );
    for (const file of ['a.mjs', 'b.cjs']) {
      const { stdout } = await run(process.execPath, [file], {
        cwd: directory,
        env: { ...process.env, ...service.env },
      });
      expect(JSON.parse(stdout), file).toEqual({ notes: ['alone'], playwright: 'is not there' });
    }
  } finally {
    await rm(directory, { recursive: true });
  }
});
