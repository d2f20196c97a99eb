import { readFileSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type RunRecord, runRecord } from './run-record.ts';

/** A record as its file has it. */
export function recordText(record: RunRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** Writes beside, to the disk, and moves into place: whatever crashes, the file is the old one or the new one. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const beside = `${file}.${process.pid}.tmp`;
  const handle = await open(beside, 'w');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(beside, file);
}

/** The record in a run's folder; null when there is none that can be read as one of this version. */
export function readRecord(folder: string): RunRecord | null {
  try {
    return runRecord.parse(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')));
  } catch {
    return null;
  }
}
