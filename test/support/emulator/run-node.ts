import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Long enough for a compiler on a busy machine; a process that takes longer is killed, and the call rejects. */
const TIMEOUT_MS = 150_000;

/**
 * Runs Node with these arguments until it ends. This process stays responsive, because the other one may talk to it.
 */
export async function runNode(args: string[], env: Record<string, string> = {}) {
  const run = promisify(execFile)(process.execPath, args, {
    env: { ...process.env, ...env },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const { stdout, stderr, code, killed } = await run.then((done) => ({ ...done, code: 0 })).catch((error) => error);
  if (killed) throw new Error(`node ${args.join(' ')} has not ended within ${TIMEOUT_MS / 1000} s`);
  return { stdout: String(stdout), stderr: String(stderr), code: Number(code) };
}
