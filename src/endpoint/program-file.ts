import { accessSync, chmodSync, constants } from 'node:fs';
import { distFile } from '../common/dist-file.ts';
import { errorMessage } from '../common/error-message.ts';
import { OptionsError } from '../errors.ts';

/**
 * The path of the program that tools start in place of a browser. Package managers make the programs of a package
 * executable; a copy of it may not be.
 * @throws OptionsError when it cannot be made executable
 */
export function programFile(): string {
  const path = distFile('browser.js');
  try {
    accessSync(path, constants.X_OK);
  } catch {
    try {
      chmodSync(path, 0o755);
    } catch (error) {
      throw new OptionsError('poolwright-browser', `${path} is not executable: ${errorMessage(error)}.`);
    }
  }
  return path;
}
