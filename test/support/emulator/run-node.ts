import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Ample for a compiler on a busy machine; a process that takes longer is killed. */
const TIMEOUT_MS = 50_000;

/** Runs Node with these arguments to its end, while this process goes on (it may be what the other speaks with). */
export async function runNode(args: string[], env: Record<string, string> = {}) {
  const run = promisify(execFile)(process.execPath, args, {
    env: { ...process.env, ...env },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const { stdout, stderr, code } = await run.then((done) => ({ ...done, code: 0 })).catch((error) => error);
  return { stdout: String(stdout), stderr: String(stderr), code: Number(code) };
}
