import { expect, poolwright, test } from '../../../support/unit/cli/command-line.ts';

test('report merge › prints one error as JSON when no file is valid', async ({ service }) => {
  const { code, stdout } = await poolwright(['report', 'merge', 'nofile', '--json'], service.env);
  expect(code).toBe(2);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: 'OPTIONS_INVALID', message: expect.stringContaining('no valid file among nofile') },
  });
});
