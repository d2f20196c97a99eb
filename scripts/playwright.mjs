import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Playwright's workers load megabytes of it. */
const COMPILE_CACHE = JSON.stringify(fileURLToPath(new URL('../test/support/e2e/compile-cache.cjs', import.meta.url)));

/**
 * Runs `playwright test` to its end and returns its exit code. Ctrl-C reaches it through the terminal's process group;
 * this process only waits for what it makes of that.
 */
export async function playwrightTest(args, env = {}) {
  const child = spawn(process.execPath, ['node_modules/@playwright/test/cli.js', 'test', ...args], {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...env,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require=${COMPILE_CACHE}`.trim(),
    },
  });
  const wait = () => undefined;
  process.on('SIGINT', wait);
  const terminate = () => child.kill('SIGTERM');
  process.on('SIGTERM', terminate);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode) => resolve(exitCode ?? 1));
  });
  process.off('SIGINT', wait);
  process.off('SIGTERM', terminate);
  return code;
}

/** Runs a script from the repository's root; its error is one message, not a stack. */
export async function main(script) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  try {
    process.exitCode = await script();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
