import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CiProvider } from '../../../src/cli/init/plan-ci.ts';
import { LINTERS } from '../../support/ci/lint.ts';
import { PIPELINES, yaml } from '../../support/ci/pipelines.ts';
import { expect, manifest, test } from '../../support/unit/init/project.ts';

/** The pipelines that `init --ci` adds; test/e2e/package/pipelines.spec.ts runs their commands. */

const CONFIG = 'export default {};\n';
const NPM = { 'package.json': manifest(['@playwright/test']), 'playwright.config.ts': CONFIG };
const JEST = { 'package.json': manifest(['puppeteer', 'jest']) };
const examples = resolve(import.meta.dirname, '../../../examples/ci');

/** How a whole directory is kept, whether the tests pass or fail. Buildkite and CircleCI always keep artifacts. */
const KEPT: Record<CiProvider, RegExp> = {
  github: /if: \$\{\{ !cancelled\(\) \}\}\n *with:\n *name: poolwright\n *path: \|\n *test-results\/poolwright$/m,
  gitlab: /when: always\n *expire_in: 2 weeks\n *paths: \[test-results\/poolwright\/\]$/m,
  circleci: /- store_artifacts:\n *path: test-results\/poolwright$/m,
  buildkite: /artifact_paths: test-results\/poolwright\/\*\*\/\*$/m,
};

/** A suite in a directory of a package in a repository. */
const DEEP = { 'apps/web/package.json': NPM['package.json'], 'apps/web/e2e/playwright.config.ts': CONFIG };
const TIMINGS = 'apps/web/e2e/poolwright-timings.json';
const NEWEST = { id: 'newest', uses: 'actions/cache/restore@v4', with: expect.objectContaining({ path: TIMINGS }) };
const ARTIFACT = { name: 'timings', path: TIMINGS, 'if-no-files-found': 'ignore' };
const CACHE = { key: 'poolwright-timings', paths: [TIMINGS] };

/** How timings reach all shards of a run, and those of later runs. Buildkite's users commit the file. */
const PASSED: Record<CiProvider, Record<string, unknown>> = {
  github: {
    jobs: {
      timings: {
        outputs: { found: `\${{ steps.newest.outputs.cache-matched-key }}` },
        steps: [NEWEST, { uses: 'actions/upload-artifact@v4', with: ARTIFACT }],
      },
      test: {
        needs: 'timings',
        steps: expect.arrayContaining([
          {
            // Without timings there is no artifact. One that has expired fails the shard.
            if: 'needs.timings.outputs.found',
            uses: 'actions/download-artifact@v4',
            with: { name: 'timings', path: './apps/web/e2e/' },
          },
        ]),
      },
      report: {
        steps: expect.arrayContaining([
          expect.objectContaining({ uses: 'actions/upload-artifact@v4', if: `\${{ !cancelled() }}` }),
          {
            uses: 'actions/cache/save@v4',
            with: { path: TIMINGS, key: `poolwright-timings-\${{ github.run_id }}-\${{ github.run_attempt }}` },
          },
        ]),
      },
    },
  },
  gitlab: {
    // All jobs of later stages get its artifacts.
    'hosted-browsers-timings': {
      stage: '.pre',
      cache: { ...CACHE, policy: 'pull' },
      artifacts: { paths: [TIMINGS] },
    },
    'hosted-browsers': expect.not.objectContaining({ needs: expect.anything() }),
    'hosted-browsers-report': { cache: { ...CACHE, policy: 'push' }, artifacts: { when: 'always' } },
  },
  circleci: {
    jobs: {
      'hosted-browsers-timings': {
        steps: [
          { restore_cache: { keys: ['poolwright-timings-{{ .Branch }}-', 'poolwright-timings-'] } },
          // In the first run there is only the directory.
          { run: 'mkdir -p poolwright-timings' },
          { persist_to_workspace: { root: '.', paths: ['poolwright-timings'] } },
        ],
      },
      'hosted-browsers': {
        steps: expect.arrayContaining([
          { attach_workspace: { at: '.' } },
          {
            run: expect.objectContaining({
              command: expect.stringMatching(/cp -r poolwright-timings\/\. "\.\/e2e\/"$/),
            }),
          },
        ]),
      },
      'hosted-browsers-report': {
        steps: expect.arrayContaining([
          { save_cache: { key: 'poolwright-timings-{{ .Branch }}-{{ epoch }}', paths: ['poolwright-timings'] } },
        ]),
      },
    },
    workflows: {
      tests: {
        jobs: expect.arrayContaining([{ 'hosted-browsers': { requires: ['hosted-browsers-timings'] } }]),
      },
    },
  },
  buildkite: {},
};

for (const [provider, { file, example, commands }] of Object.entries(PIPELINES) as [
  CiProvider,
  (typeof PIPELINES)[CiProvider],
][]) {
  test.describe(provider, () => {
    /** The file that `init` adds to this project. */
    const lint = async (text: string, directory: string) => {
      expect(await LINTERS[provider](text, directory)).toEqual([]);
      const { shard, report } = commands(text);
      for (const { script } of [...shard, ...report]) {
        const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
        expect({ script, status, stderr }).toEqual({ script, status: 0, stderr: '' });
      }
      return { all: text, shard: shard.map(({ script }) => script).join('\n'), report };
    };

    test('matches examples/ci, and a wrong key is found', async ({ project }, testInfo) => {
      const { plan } = await project(NPM);
      const { [file]: text = '' } = (await plan({ ci: provider })).texts;
      expect(text, `Copy it to examples/ci/${example}`).toBe(readFileSync(join(examples, example), 'utf8'));
      const { shard, report } = await lint(text, testInfo.outputPath('right'));
      expect(shard).toContain('npm ci\n');
      expect(shard).toMatch(
        /npx playwright test -c playwright\.hosted\.config\.ts --reporter=line,blob,poolwright\/reporter --shard="\$\S*\W/,
      );
      expect(shard).toContain('npx poolwright sweep');
      expect(shard).not.toMatch(/corepack|ffmpeg/);
      expect(report.map(({ script }) => script).join('\n')).toMatch(/merge-reports[\s\S]*poolwright report merge/);
      expect(text).not.toMatch(/API_KEY:? *=? *['"]?[\w-]{16,}/);
      const wrong = text.replace(/^( *)(- )?(uses|script|docker|label):/m, '$1$2wrong:');
      expect(await LINTERS[provider](wrong, testInfo.outputPath('wrong'))).not.toEqual([]);
    });

    test('works for pnpm in a directory of the repository, with videos', async ({ project }, testInfo) => {
      const { plan } = await project({
        'apps/web/package.json': manifest(['@playwright/test']),
        'apps/web/playwright.config.ts': "export default { use: { video: 'on' } };\n",
        'pnpm-lock.yaml': '',
      });
      const { [file]: text = '' } = (await plan({ ci: provider }, 'apps/web')).texts;
      const { all, shard } = await lint(text, testInfo.outputPath('gitlab'));
      expect(shard).toMatch(/corepack enable\n[\s\S]*pnpm i --frozen-lockfile\n/);
      expect(shard).toContain('pnpm exec playwright install ffmpeg');
      expect(all).toMatch(/(working.directory: (~\/project\/)?|cd )apps\/web$/m);
      const relativeToJob = provider === 'circleci';
      for (const [, path] of all.matchAll(
        /(?:paths?: \[?|artifact_paths: |- )((?:apps\/web\/)?(?:shards|playwright-report|blob-report|poolwright-timings)\S*)/g,
      ))
        if (!relativeToJob) expect(path).toMatch(/^apps\/web\//);
    });

    test('passes one file of timings to all shards, and saves those of a complete run', async ({ project }) => {
      const { plan } = await project(DEEP);
      const { [file]: text = '' } = (await plan({ ci: provider }, 'apps/web')).texts;
      expect(yaml(text)).toMatchObject(PASSED[provider]);
      // No shard reads the cache, which may have changed since the others began.
      expect(text.match(/cache\/restore|restore_cache|policy: pull/g) ?? []).toHaveLength(
        provider === 'buildkite' ? 0 : 1,
      );
      if (provider === 'buildkite') expect(text).toContain(`# ${TIMINGS}: then shards end together`);
      const report = commands(text).report.map(({ script }) => script);
      expect(report.join('\n')).toMatch(/poolwright report merge .* --strict\b/);
    });

    test('keeps record and evidence of a Puppeteer suite after a failure, too, without shards', async ({
      project,
    }, testInfo) => {
      const { plan } = await project(JEST);
      const { [file]: text = '' } = (await plan({ ci: provider })).texts;
      const { all, shard, report } = await lint(text, testInfo.outputPath('gitlab'));
      expect(shard).toContain('npx jest');
      expect(shard).not.toContain('shard');
      expect(all).not.toContain('timings');
      expect(report).toEqual([]);
      expect(all).toMatch(KEPT[provider]);
    });

    test('does not change an existing file', async ({ project }) => {
      const { plan } = await project({ ...NPM, [file]: 'own: true\n' });
      const { texts, byHand } = await plan({ ci: provider });
      expect(texts[file]).toBeUndefined();
      expect(byHand.map((each) => each.file)).toEqual([file]);
      expect(yaml(byHand[0]?.lines.join('\n') ?? '')).toBeTruthy();
      const mine = await project({ ...NPM, [file]: 'run: npx poolwright sweep\n' });
      const second = await mine.plan({ ci: provider });
      expect(second.byHand).toEqual([]);
      expect(second.present).toContain(`${file} names poolwright`);
    });
  });
}

test('GitHub: only pull requests from forks run on the emulator, and install scripts do not get the key', async ({
  project,
}) => {
  const { plan } = await project(NPM);
  const workflow = yaml((await plan({ ci: 'github' })).texts[PIPELINES.github.file] ?? '') as {
    jobs: { test: { env: object; steps: { if?: string; run?: string; env?: object }[] } };
  };
  const { env, steps } = workflow.jobs.test;
  expect(env).toEqual({
    POOLWRIGHT_SERVICE: `\${{ github.event.pull_request.head.repo.fork == true && 'emulator' || 'hosted' }}`,
  });
  expect(steps.filter((step) => step.env && 'POOLWRIGHT_API_KEY' in step.env).map(({ run }) => run)).toEqual([
    expect.stringContaining('npx playwright test'),
    'npx poolwright sweep',
  ]);
  // Nothing else decides by whether there is a key.
  expect(JSON.stringify(steps.map((step) => step.if))).not.toContain('KEY');
});
