import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';

/**
 * Whether a program of this process's user is at the other end of a connection over 127.0.0.1: Chromium has no way to
 * name itself to a SOCKS proxy. Linux says whose a connection is; elsewhere, and where /proc is closed, every one
 * counts as ours.
 */
export async function isOwnUsers({ localPort, remotePort }: Socket): Promise<boolean> {
  const uid = process.getuid?.();
  if (process.platform !== 'linux' || uid === undefined) return true;
  let table: string;
  try {
    table = await readFile('/proc/net/tcp', 'latin1');
  } catch {
    return true;
  }
  const peer = `${inTable(remotePort)} ${inTable(localPort)} `;
  const line = table.split('\n').find((each) => each.includes(peer));
  // sl, local, remote, state, queues, timer, retransmits, uid, timeout, inode. One that was closed has no inode, and
  // not its uid.
  const [, , , , , , , owner, , inode] = line?.trim().split(/\s+/) ?? [];
  return owner === String(uid) && inode !== '0';
}

/** 127.0.0.1 and a port: as bytes of the machine in their order, and a number. */
function inTable(port = 0): string {
  return `${LOOPBACK}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}

const LOOPBACK = new Uint32Array(new Uint8Array([127, 0, 0, 1]).buffer)[0]?.toString(16).toUpperCase().padStart(8, '0');
