import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, rmSync } from 'node:fs';
import { ServiceClient } from 'poolwright/client';
import { startEmulator } from 'poolwright/emulator';
import { startSite } from './site.mjs';

/**
 * Runs two shards at the same time on one pool, then makes one report of both. In CI each shard is a separate job.
 */

const SHARDS = [1, 2];
const REPORT = 'playwright-report';

async function run(command, args, env) {
  const child = spawn(command, args, { stdio: 'inherit', env, shell: process.platform === 'win32' });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

function runShard(shard, env) {
  return run('playwright', ['test', `--shard=${shard}/${SHARDS.length}`, `--output=shards/${shard}`], {
    ...env,
    PLAYWRIGHT_BLOB_OUTPUT_DIR: `shards/blob-${shard}`,
  });
}

async function mergeReports(env) {
  for (const shard of SHARDS) cpSync(`shards/blob-${shard}`, 'shards/blobs', { recursive: true });
  const records = SHARDS.map((shard) => `shards/${shard}/poolwright/run.json`);
  const html = await run('playwright', ['merge-reports', '--reporter=html', 'shards/blobs'], env);
  const output = `${REPORT}/poolwright`;
  const merge = ['report', 'merge', ...records, '--strict', '--output', output, '--html', REPORT];
  const merged = await run('poolwright', merge, env);
  // The next run is balanced by how long the tests took in this one.
  if (merged === 0) copyFileSync(`${output}/timings.json`, 'poolwright-timings.json');
  return [html, merged];
}

// Ctrl-C ends the tests; the pool is still deleted.
process.on('SIGINT', () => {});
rmSync('shards', { recursive: true, force: true });

// Your variables name the service; without them, the emulator takes its place.
const emulator = process.env.POOLWRIGHT_API_KEY ? null : await startEmulator();
const baseURL = emulator?.baseURL ?? process.env.POOLWRIGHT_BASE_URL;
const apiKey = emulator?.apiKey ?? process.env.POOLWRIGHT_API_KEY;
const client = new ServiceClient({ baseURL, apiKey });
const site = await startSite();
try {
  // To use your pool, set POOLWRIGHT_POOL. The pool created here has a warm browser for each shard.
  const made = process.env.POOLWRIGHT_POOL
    ? null
    : await client.createPool({ name: `sharded-${process.pid}`, size: SHARDS.length });
  const env = {
    ...process.env,
    POOLWRIGHT_BASE_URL: baseURL,
    POOLWRIGHT_API_KEY: apiKey,
    POOLWRIGHT_POOL: made?.id ?? process.env.POOLWRIGHT_POOL,
    PLAYWRIGHT_HTML_OPEN: 'never',
    SITE_URL: site.url,
  };
  try {
    const codes = await Promise.all(SHARDS.map((shard) => runShard(shard, env)));
    process.exitCode = Math.max(...codes, ...(await mergeReports(env)));
  } finally {
    if (made) await client.deletePool(made.id, { force: true });
  }
} finally {
  site.close();
  await client.close();
  await emulator?.stop();
}
