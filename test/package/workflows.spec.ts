import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from '@playwright/test';
import { parse } from 'yaml';
import config from '../../playwright.config.ts';
import { actionlint } from '../support/ci/lint.ts';

const own = resolve(import.meta.dirname, '../../.github/workflows');

test('actionlint finds no problem in the workflows', async () => {
  for (const name of await readdir(own)) {
    expect(await actionlint(await readFile(join(own, name), 'utf8'), name)).toEqual([]);
  }
});

test('CI checks first, and runs every project on each Node', async () => {
  const { jobs } = parse(await readFile(join(own, 'ci.yml'), 'utf8'));
  const commands = (job: { steps: { run?: string }[] }) => job.steps.map(({ run = '' }) => run).join('\n');
  expect(commands(jobs.check)).toContain('npm run check');
  expect(jobs.unit.needs).toBe('check');
  expect(commands(jobs.unit)).toContain('npm run test:unit');
  expect(jobs.test.needs).toBe('unit');
  expect(jobs.test.strategy.matrix.node).toEqual(jobs.unit.strategy.matrix.node);
  const run = [...commands(jobs.test).matchAll(/--project=(\S+)/g)].map(([, name]) => name);
  expect(['unit', ...run].sort()).toEqual(config.projects?.map(({ name }) => name).sort());
});
