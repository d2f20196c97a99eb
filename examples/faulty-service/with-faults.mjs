import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startEmulator } from 'poolwright/emulator';

/** Runs the tests on an emulator that fails in ways a real service can, then says which faults there were. */

const CREATE = { method: 'POST', path: '/v1/browser/session' };
const faults = [
  {
    id: 'no capacity',
    match: { ...CREATE, nth: 1 },
    effect: {
      status: 503,
      body: { error: 'No eligible node found', code: 'browser_capacity_unavailable' },
      headers: { 'Retry-After': '1' },
    },
  },
  { id: 'a session whose answer is lost', match: { ...CREATE, nth: 2 }, effect: { loseAnswer: true } },
  { id: 'a browser that crashes', match: CREATE, effect: { crashBrowser: true, afterMs: 1500 }, count: 1 },
  {
    id: 'a stop that ends in a gateway error',
    match: { method: 'DELETE', path: '/v1/browser/session', nth: 1 },
    effect: { status: 502, body: '<h1>Bad Gateway</h1>' },
  },
];

// Ctrl-C ends the tests; the emulator is still stopped.
process.on('SIGINT', () => {});
const emulator = await startEmulator({ faults });
try {
  const tests = spawn('playwright', ['test', ...process.argv.slice(2)], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: { ...process.env, POOLWRIGHT_BASE_URL: emulator.baseURL, POOLWRIGHT_API_KEY: emulator.apiKey },
  });
  const [code] = await once(tests, 'exit');
  const answer = await fetch(`${emulator.baseURL}/__emulator/faults`, {
    headers: { authorization: `Bearer ${emulator.apiKey}` },
  });
  for (const { id, fired } of (await answer.json()).faults) console.log(`fault: ${id}, ${fired} time(s)`);
  process.exitCode = code ?? 1;
} finally {
  await emulator.stop();
}
