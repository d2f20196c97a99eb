import { parseYaml } from '@redocly/openapi-core';
import type { CiProvider } from '../../../../src/cli/init/ci/plan-ci.ts';
import { expect, manifest, test } from '../../../support/unit/init/folder.ts';

/** The pipelines that `init --ci` adds. */

const CONFIG = 'export default {};\n';
const FILES: Record<CiProvider, string> = {
  github: '.github/workflows/poolwright.yml',
  gitlab: '.gitlab-ci.yml',
  circleci: '.circleci/config.yml',
  buildkite: '.buildkite/pipeline.yml',
};

/** Every string in a parsed file. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : [];
}

for (const [provider, file] of Object.entries(FILES) as [CiProvider, string][]) {
  test(`${provider}: installs, runs the shards, and sweeps whatever happens`, async ({ project }) => {
    for (const [lock, install, run] of [
      ['package-lock.json', 'npm ci', 'npx playwright test'],
      ['pnpm-lock.yaml', 'pnpm i --frozen-lockfile', 'pnpm exec playwright test'],
    ] as const) {
      const { plan } = await project({
        'package.json': manifest(['@playwright/test']),
        'playwright.config.ts': CONFIG,
        [lock]: '',
      });
      const said = strings(parseYaml((await plan({ ci: provider })).texts[file] ?? '')).join('\n');
      expect(said).toContain(install);
      expect(said).toContain(`${run} --shard=`);
      expect(said).toContain('poolwright sweep');
      expect(said.includes('corepack enable')).toBe(lock === 'pnpm-lock.yaml');
    }
  });

  test(`${provider}: a package in a folder of the repository`, async ({ project }) => {
    const { plan } = await project({
      'apps/web/package.json': manifest(['@playwright/test']),
      'apps/web/playwright.config.ts': CONFIG,
    });
    const text = (await plan({ ci: provider }, 'apps/web')).texts[`${file}`] ?? '';
    expect(parseYaml(text)).toBeTruthy();
    expect(text).toMatch(/(working.directory: (~\/project\/)?|cd )apps\/web$/m);
  });

  test(`${provider}: a file that is there stays as it is`, async ({ project }) => {
    const { plan } = await project({ 'playwright.config.ts': CONFIG, [file]: 'own: true\n' });
    const { texts, byHand } = await plan({ ci: provider });
    expect(texts[file]).toBeUndefined();
    expect(byHand).toHaveLength(1);
    expect(byHand[0]?.file).toBe(file);
    expect(parseYaml(byHand[0]?.lines.join('\n') ?? '')).toBeTruthy();
    const mine = await project({ 'playwright.config.ts': CONFIG, [file]: 'run: npx poolwright sweep\n' });
    const second = await mine.plan({ ci: provider });
    expect(second.byHand).toEqual([]);
    expect(second.present).toContain(`${file} names poolwright`);
  });
}

test('GitHub: two shards, secrets, results of each, the emulator where there is no key', async ({ project }) => {
  const { plan } = await project({ 'package.json': manifest(['@playwright/test']), 'playwright.config.ts': CONFIG });
  const workflow = parseYaml((await plan({ ci: 'github' })).texts[FILES.github] ?? '') as {
    jobs: {
      test: { strategy: unknown; env: Record<string, string>; steps: { if?: string; run?: string; with?: object }[] };
    };
  };
  const { strategy, env, steps } = workflow.jobs.test;
  expect(strategy).toEqual({ 'fail-fast': false, matrix: { shard: [1, 2] } });
  expect(Object.keys(env)).toEqual(['POOLWRIGHT_BASE_URL', 'POOLWRIGHT_API_KEY', 'POOLWRIGHT_POOL']);
  expect(steps.find(({ run }) => run?.includes('--shard'))?.run).toEqual(
    expect.stringMatching(/^npx playwright test --shard=\$\{\{ matrix\.shard \}\}\/2$/),
  );
  expect(steps.find(({ run }) => run?.includes('sweep'))?.if).toBe('always()');
  const emulator = steps.find(({ run }) => run?.includes('poolwright emulator'));
  expect(emulator?.if).toBe("env.POOLWRIGHT_API_KEY == ''");
  expect(steps.at(-1)?.with).toMatchObject({ name: expect.stringMatching(/^results-\$\{\{ matrix\.shard \}\}$/) });
});
