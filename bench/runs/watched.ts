import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { chromium } from 'playwright-core';
import { session, wrapped } from './hosted.ts';
import type { Side } from './side.ts';

/** The sides of the suites `watch` and `film`: sessions, with and without pictures of their pages. */

/** A user's `poolwright watch` with its page open: as many tiles as the run has workers, on this machine, too. */
export const watched: Side = {
  ...session,
  name: 'watched',
  title: 'poolwright, session, every tile watched',
  prepare: async (surroundings) => {
    const { env } = await session.prepare(surroundings);
    // Runs of others on this machine are not watched.
    const temporary = await mkdtemp(join(tmpdir(), 'pw-'));
    const cli = join(surroundings.directory, 'node_modules/poolwright/dist/cli.js');
    const child = spawn(process.execPath, [cli, 'watch', '--json'], {
      cwd: surroundings.directory,
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(child, 'close');
    const browser = await chromium.launch({ executablePath: surroundings.chromium });
    const page = await browser.newPage();
    await page.goto(await addressIn(child.stdout));
    return {
      env: { ...env, TMPDIR: temporary },
      remove: async () => {
        await browser.close();
        child.kill('SIGINT');
        await closed;
        await rm(temporary, { recursive: true });
      },
    };
  },
};

/** The address that the command prints. */
async function addressIn(stdout: Readable): Promise<string> {
  let output = '';
  return await new Promise((resolve, reject) => {
    stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.endsWith('\n')) resolve(JSON.parse(output).url);
    });
    stdout.once('end', () => reject(new Error(`\`poolwright watch\` printed no address: ${output}`)));
  });
}

/** Another build of the package, for example one that cannot be watched: the directory is in BENCH_EARLIER. */
export const earlier: Side = {
  ...session,
  name: 'earlier',
  title: 'an earlier build, session',
  build: process.env.BENCH_EARLIER ?? null,
};

export const filmedFailures: Side = {
  ...session,
  name: 'film-failures',
  title: "session, film: 'retain-on-failure'",
  config: ({ exposeNetwork }) => wrapped({ film: 'retain-on-failure' }, exposeNetwork),
};

export const filmedAlways: Side = {
  ...session,
  name: 'film-on',
  title: "session, film: 'on'",
  config: ({ exposeNetwork }) => wrapped({ film: 'on' }, exposeNetwork),
};
