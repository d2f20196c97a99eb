import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import * as v from 'valibot';
import type { Suite } from './checkout.ts';

/** `ahead`: through poolwright too, with distant browsers and everything sent ahead. */
export type Way = 'plain' | 'poolwright' | 'ahead';

/** What became of the tests of one run. A test that was skipped is in neither list. */
export interface Outcome {
  passed: Set<string>;
  /** Why each failed, by its file and title. */
  failed: Map<string, string>;
  skipped: number;
}

const TEST_TIMEOUT_MS = 15_000;
const RUN_TIMEOUT_MS = 45 * 60_000;
const RETRIES = 2;

const test = v.object({ file: v.optional(v.string()), fullTitle: v.string(), err: v.optional(v.string()) });
const event = v.union([
  v.tuple([v.literal('pass'), test]),
  v.tuple([v.literal('fail'), test]),
  v.tuple([v.literal('end'), v.object({ pending: v.number() })]),
]);

/** Runs Puppeteer's tests once. @param chromium what browsers are started from */
export async function runMocha(
  way: Way,
  { files, leftOut }: Suite,
  settings: { checkout: string; preload: string; chromium: string },
): Promise<Outcome> {
  const { checkout, preload, chromium } = settings;
  const fromCheckout = createRequire(join(checkout, 'test', 'package.json'));
  const profiles = await mkdtemp(join(tmpdir(), 'poolwright-compat-'));
  const child = spawn(
    process.execPath,
    [
      fromCheckout.resolve('mocha/bin/mocha.js'),
      '--no-config',
      '--exit',
      '--async-only',
      `--timeout=${TEST_TIMEOUT_MS}`,
      `--retries=${RETRIES}`,
      '--reporter=json-stream',
      `--require=${preload}`,
      `--require=${fromCheckout.resolve('source-map-support/register')}`,
      `--require=${join(checkout, 'test', 'build', 'mocha-utils.js')}`,
      ...(leftOut ? [`--grep=${leftOut}`, '--invert'] : []),
      ...files,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: RUN_TIMEOUT_MS,
      cwd: checkout,
      env: {
        ...process.env,
        HEADLESS: 'shell',
        BINARY: chromium,
        COMPAT_CHECKOUT: checkout,
        COMPAT_PROFILES: profiles,
        COMPAT_WAY: way,
      },
    },
  );
  const outcome: Outcome = { passed: new Set(), failed: new Map(), skipped: 0 };
  let whole = false;
  for await (const line of createInterface({ input: child.stdout })) {
    const { success, output } = v.safeParse(event, parsed(line));
    if (!success) continue;
    const [kind, fields] = output;
    if (kind === 'end') {
      whole = true;
      outcome.skipped = fields.pending;
      continue;
    }
    const { file, fullTitle, err } = fields;
    const key = `${relative(join(checkout, 'test', 'build'), file ?? '').replace(/\.js$/, '')}: ${fullTitle}`;
    if (kind === 'pass') outcome.passed.add(key);
    else outcome.failed.set(key, err ?? '');
  }
  await rm(profiles, { recursive: true, force: true, maxRetries: 5 });
  if (!whole) throw new Error(`Mocha did not come to its end (${way}).`);
  return outcome;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
