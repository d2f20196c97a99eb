import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import * as v from 'valibot';
import { PROTOCOL_VERSION } from '../rpc/line-socket.ts';
import type { BrokerAddress } from '../rpc/shared-broker.ts';
import { ownSocketDirectories } from '../rpc/socket-address.ts';

/**
 * How those who watch find the brokers of this user on this machine: each broker writes a file that only this user may
 * read, into the directory of its socket.
 */

const announcement = v.object({
  /** `PROTOCOL_VERSION` of the broker. */
  version: v.number(),
  address: v.string(),
  /** Allows to watch, and nothing else. */
  token: v.string(),
});

/** A broker that can be watched. */
export type Announcement = v.InferOutput<typeof announcement>;

const FILE = 'watch.json';
/** On Windows, where the address is not a path. */
const WINDOWS_FILE = /^poolwright-[\da-f]{16}\.watch\.json$/;

/** Writes the file of a broker that listens. Returns a function that removes it. */
export function announce({ address, token }: BrokerAddress): () => void {
  const file = fileOf(address);
  const content: Announcement = { version: PROTOCOL_VERSION, address, token };
  const withdraw = () => rmSync(file, { force: true });
  try {
    // A dead broker of the same run left its own.
    withdraw();
    writeFileSync(file, JSON.stringify(content), { mode: 0o600, flag: 'wx' });
  } catch {
    // The run is more important: it cannot be watched.
  }
  return withdraw;
}

/** The brokers of this user. One that has been killed may be among them. */
export function announced(): Announcement[] {
  return files().flatMap((file) => readAnnouncement(file) ?? []);
}

function fileOf(address: string): string {
  if (process.platform === 'win32') return join(tmpdir(), `${basename(address)}.watch.json`);
  return join(dirname(address), FILE);
}

function files(): string[] {
  if (process.platform !== 'win32') return ownSocketDirectories().map((directory) => join(directory, FILE));
  try {
    return readdirSync(tmpdir()).flatMap((name) => (WINDOWS_FILE.test(name) ? join(tmpdir(), name) : []));
  } catch {
    return [];
  }
}

function readAnnouncement(file: string): Announcement | null {
  try {
    return v.parse(announcement, JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null; // its run has ended, or it is another version's
  }
}
