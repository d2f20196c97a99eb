import { execFileSync } from 'node:child_process';
import { expect, poolwright, test } from '../../../support/unit/cli/command-line.ts';

test('completion › suggests commands, flags and values for what has been typed', async () => {
  const suggested = async (...typed: string[]) => {
    const { stdout, code } = await poolwright(['complete', '--', ...typed], {});
    expect(code).toBe(0);
    return stdout.split('\n').flatMap((line) => (line.includes('\t') ? [line.split('\t')[0]] : []));
  };
  expect(await suggested('s')).toEqual(['serve', 'sessions', 'sweep']);
  expect(await suggested('sessions', '')).toEqual(expect.arrayContaining(['list', 'get', 'stop', 'note']));
  expect(await suggested('sessions', 'list', '--')).toEqual(expect.arrayContaining(['--status', '--json']));
  expect(await suggested('sessions', 'list', '--status', '')).toEqual(['starting', 'active', 'completed', 'error']);
  expect(await suggested('nosuch', '')).toEqual([]);
});

test('completion › prints a script for the shell, and refuses others', async () => {
  const bash = await poolwright(['completion', 'bash'], {});
  expect(bash).toMatchObject({ code: 0, stderr: '' });
  execFileSync('bash', ['-n'], { input: bash.stdout });
  for (const shell of ['zsh', 'fish', 'powershell'])
    expect((await poolwright(['completion', shell], {})).stdout).toContain('__poolwright');
  const refused = await poolwright(['completion', 'tcsh'], {});
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('Allowed choices are zsh, bash, fish, powershell');
});
