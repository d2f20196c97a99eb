import { expect, poolwright, test } from '../../../support/unit/cli/command-line.ts';

test('sweep › needs no key, except with --run', async () => {
  const none = { POOLWRIGHT_BASE_URL: '', POOLWRIGHT_API_KEY: '', CI: '1' };
  expect(await poolwright(['sweep'], none)).toEqual({
    code: 0,
    stdout: '',
    stderr:
      'poolwright: POOLWRIGHT_API_KEY is not set: nothing to sweep (browsers of the emulator end with their run)\n',
  });
  const json = await poolwright(['sweep', '--json'], none);
  expect(JSON.parse(json.stdout)).toMatchObject({ stopped: [], failures: [] });
  const named = await poolwright(['sweep', '--run', 'gh-1.1'], none);
  expect(named.code).toBe(2);
  expect(named.stderr).toContain('POOLWRIGHT_BASE_URL and POOLWRIGHT_API_KEY are not set: export ');
});

test('sweep › browsers that run already are ended by no run', async () => {
  const own = {
    POOLWRIGHT_BASE_URL: '',
    POOLWRIGHT_API_KEY: '',
    CI: '1',
    POOLWRIGHT_CDP_URL: 'ws://host/?token=s3cret',
  };
  for (const args of [['sweep'], ['sweep', '--run', 'gh-1.1']])
    expect(await poolwright(args, own)).toEqual({
      code: 0,
      stdout: '',
      stderr: 'poolwright: POOLWRIGHT_CDP_URL names browsers that run already: nothing to sweep (no run ends them)\n',
    });
});
