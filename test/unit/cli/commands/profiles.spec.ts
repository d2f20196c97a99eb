import { expect, poolwright, test } from '../../../support/unit/cli/command-line.ts';

test('profiles › prints that there are none, and names those that do not exist', async ({ service }) => {
  expect(await poolwright(['profiles', 'list'], service.env)).toMatchObject({ code: 0, stdout: 'none\n' });
  expect(await poolwright(['profiles', 'delete', 'x', '--yes'], service.env)).toMatchObject({
    code: 0,
    stdout: 'there is no profile "x"\n',
  });
});
