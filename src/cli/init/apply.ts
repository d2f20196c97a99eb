import { constants } from 'node:fs';
import { access, chmod, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeAtomically } from '../../common/write-atomically.ts';
import { PoolwrightError } from '../../errors.ts';
import { type FileChange, onDisk } from './plan.ts';

/**
 * Writes the files of a plan; none when one of them cannot be written, or is no longer as the plan read it.
 * @throws PoolwrightError `ABORTED` naming that file
 */
export async function apply(changes: FileChange[]): Promise<void> {
  for (const { file, before } of changes) {
    // The question may have been open for a while.
    if (onDisk(file) !== before)
      throw new PoolwrightError(
        'ABORTED',
        `${file} has changed since the plan was made. Nothing was written: run init again.`,
      );
    const directory = await nearestDirectory(dirname(file));
    for (const each of before === null ? [directory] : [directory, file])
      await access(each, constants.W_OK).catch((error) => refuse(file, error, 'Nothing was changed.'));
  }
  const written: string[] = [];
  for (const { file, before, after } of changes) {
    try {
      await replace(file, before, after);
    } catch (error) {
      refuse(file, error, written.length > 0 ? `Already changed: ${written.join(', ')}.` : 'Nothing was changed.');
    }
    written.push(file);
  }
}

/** A link stays a link, and a file keeps its mode. */
async function replace(file: string, before: string | null, after: string): Promise<void> {
  if (before === null) {
    await writeAtomically(file, after);
    return;
  }
  const target = await realpath(file);
  const { mode } = await stat(target);
  await writeAtomically(target, after);
  await chmod(target, mode);
}

/** The directory, or the nearest one above it that exists. */
async function nearestDirectory(directory: string): Promise<string> {
  const exists = await stat(directory).then(
    () => true,
    () => false,
  );
  return exists || dirname(directory) === directory ? directory : await nearestDirectory(dirname(directory));
}

function refuse(file: string, error: unknown, state: string): never {
  const { code, message } = error as NodeJS.ErrnoException;
  throw new PoolwrightError('ABORTED', `${file} cannot be written (${code ?? message}). ${state}`, { cause: error });
}
