import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Long enough for a compiler on a busy machine; a process that takes longer is killed. */
const TIMEOUT_MS = 50_000;

/**
 * Runs Node with these arguments until it ends. This process stays responsive, because the other one may talk to it.
 */
export async function runNode(args: string[], env: Record<string, string> = {}) {
  const run = promisify(execFile)(process.execPath, args, {
    env: { ...process.env, ...env },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const { stdout, stderr, code } = await run.then((done) => ({ ...done, code: 0 })).catch((error) => error);
  return { stdout: String(stdout), stderr: String(stderr), code: Number(code) };
}
