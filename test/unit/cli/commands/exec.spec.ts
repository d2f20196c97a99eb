import { join } from 'node:path';
import { expect, poolwright, test } from '../../../support/unit/cli/command-line.ts';

/** The flags of commands that lease browsers; the browsers are in test/e2e/commands. */

for (const file of ['nope.ts', 'nope.mjs', 'nope.json']) {
  test(`--config › says that there is no ${file}, whatever Node can load`, async ({ directory }) => {
    for (const command of [
      ['exec', '-c', file, '--', 'node'],
      ['serve', '-c', file],
    ]) {
      const { code, stdout, stderr } = await poolwright(command, {}, directory);
      expect(code).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toBe(`poolwright: There is no file ${join(directory, file)}. [OPTIONS_INVALID]\n`);
    }
  });
}
