import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Consumer } from './consumer.ts';

/**
 * Makes programs available to `npx` and to scripts in the consumer's package.json; programs of other packages are found
 * in a parent directory.
 * @param more scripts of more programs by name, as paths from the consumer's directory
 */
export async function installPrograms(
  { directory, playwrightCli }: Consumer,
  more: Record<string, string> = {},
): Promise<void> {
  const bin = join(directory, 'node_modules/.bin');
  await mkdir(bin, { recursive: true });
  const programs = { playwright: playwrightCli, poolwright: 'node_modules/poolwright/dist/cli.js', ...more };
  for (const [name, script] of Object.entries(programs)) {
    const text = `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(resolve(directory, script))} "$@"\n`;
    await writeFile(join(bin, name), text, { mode: 0o755 });
  }
}
