import { readFileSync, writeFileSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { dateNow } from '../../common/clock.ts';
import { isAlive } from '../../common/platform/processes.ts';
import { isSocketDirectory, ownSocketDirectories, probeSocket, socketIn } from '../rpc/socket-address.ts';
import { systemIdentity } from './system-identity.ts';

/** In the directory of a broker's socket: the process that starts its brokers, and where it runs. */
const FILE = 'runner.json';
const runnerFile = v.object({ pid: v.number(), place: v.nullable(v.string()) });
/** A directory is that old, in ms, when nothing else shows that its run is over. */
const OLD_MS = 24 * 3_600_000;

/** Writes beside the socket which process started this broker. @param address the socket's path */
export function noteRunner(address: string): void {
  if (process.platform === 'win32') return;
  try {
    writeFileSync(join(dirname(address), FILE), JSON.stringify({ pid: process.ppid, place: systemIdentity() }));
  } catch {
    // A day later, the directory's age shows the same.
  }
}

/**
 * Removes a socket with its directory and everything that its broker has put there.
 * @param address the socket's path
 */
export async function removeSocketDirectory(address: string): Promise<void> {
  const directory = dirname(address);
  if (isSocketDirectory(directory)) await rm(directory, { recursive: true, force: true });
}

/**
 * Removes the directories of sockets that were left when runner and broker were killed: nobody listens, and no process
 * is left that would start another broker there.
 */
export async function removeLeftSockets(): Promise<void> {
  for (const directory of ownSocketDirectories()) {
    // Another process may be removing it.
    if (await isLeft(directory).catch(() => false))
      await removeSocketDirectory(socketIn(directory)).catch(() => undefined);
  }
}

async function isLeft(directory: string): Promise<boolean> {
  const runner = runnerOf(directory);
  const isHere = runner !== null && runner.place !== null && runner.place === systemIdentity();
  const isOver = isHere ? !isAlive(runner.pid) : dateNow() - (await stat(directory)).mtimeMs > OLD_MS;
  return isOver && (await probeSocket(socketIn(directory))) === 'nobody';
}

function runnerOf(directory: string): v.InferOutput<typeof runnerFile> | null {
  try {
    return v.parse(runnerFile, JSON.parse(readFileSync(join(directory, FILE), 'utf8')));
  } catch {
    return null;
  }
}
