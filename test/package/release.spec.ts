import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@playwright/test';
import { parse } from 'yaml';
import { notesOf } from '../../scripts/release/notes.mjs';
import { inRepository } from '../../scripts/release/repository.mjs';
import { nextStep } from '../../scripts/release/state.mjs';

const root = resolve(import.meta.dirname, '../..');
const CHANGELOG = `# Changelog

## 1.1.0

### Minor Changes

- Two.

## 1.0.0

One.

## Unreleased

First.
`;

test('the next step of a release depends on changesets and on what is published', () => {
  let asked = 0;
  const published = (answer: boolean) => () => {
    asked++;
    return answer;
  };
  expect(nextStep(['README.md', 'config.json', 'brave-dogs.md'], published(false))).toBe('propose');
  expect(asked, 'the registry is asked only when the answer matters').toBe(0);
  expect(nextStep(['README.md', 'config.json'], published(false))).toBe('publish');
  expect(nextStep(['README.md', 'config.json'], published(true))).toBe('nothing');
});

test('the notes of a version are its section of the changelog', () => {
  expect(notesOf('1.1.0', CHANGELOG)).toBe('### Minor Changes\n\n- Two.');
  expect(notesOf('1.0.0', CHANGELOG)).toBe('One.');
  expect(notesOf('1.1', CHANGELOG)).toBe('First.');
  const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
  expect(notesOf(version, readFileSync(resolve(root, 'CHANGELOG.md'), 'utf8'))).not.toBe('');
});

test('package.json names the repository in three fields, and a release replaces all of them', () => {
  const manifest = readFileSync(resolve(root, 'package.json'), 'utf8');
  const { repository, homepage, bugs } = JSON.parse(inRepository(manifest, 'someone/poolwright'));
  expect(repository).toEqual({ type: 'git', url: 'git+https://github.com/someone/poolwright.git' });
  expect(homepage).toBe('https://github.com/someone/poolwright#readme');
  expect(bugs).toBe('https://github.com/someone/poolwright/issues');
  expect(() => inRepository(manifest, 'https://example.com')).toThrow('Expected owner/name');
});

test('only package.json names the owner of the repository', () => {
  const { stdout } = spawnSync('git', ['grep', '-lE', 'github\\.com/[^/ ]+/poolwright'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(stdout.split('\n').filter((file) => file !== '' && !file.startsWith('test/'))).toEqual(['package.json']);
});

interface Job {
  needs?: string | string[];
  strategy?: { matrix: { script?: string[] } };
  permissions?: Record<string, string>;
  steps?: { uses?: string; run?: string }[];
}

const directory = join(root, '.github/workflows');
const workflows = readdirSync(directory).map((name) => ({ name, text: readFileSync(join(directory, name), 'utf8') }));

test('a job that can publish neither checks out, installs nor runs code of the repository', () => {
  const jobs = workflows.flatMap(({ text }) => Object.values<Job>(parse(text).jobs));
  const trusted = jobs.filter(({ permissions }) => permissions?.['id-token'] === 'write');
  expect(trusted).toHaveLength(1);
  for (const { uses = '', run = '' } of trusted.flatMap(({ steps = [] }) => steps)) {
    expect(uses).not.toContain('actions/checkout');
    expect(run).not.toMatch(/\b(node|npx|npm (?!publish .*--ignore-scripts))\b/);
  }
});

test('nothing is published before the version matrix and the full fault suite pass', () => {
  const jobs: Record<string, Job> = parse(workflows.find(({ name }) => name === 'release.yml')?.text ?? '').jobs;
  const before = (job: Job | undefined): Job[] =>
    [job?.needs ?? []].flat().flatMap((name) => [...(jobs[name] ? [jobs[name]] : []), ...before(jobs[name])]);
  const publish = Object.values(jobs).find(({ permissions }) => permissions?.['id-token'] === 'write');
  const scripts = before(publish).flatMap(({ strategy }) => strategy?.matrix.script ?? []);
  expect(scripts).toEqual(expect.arrayContaining(['versions', 'faults']));
});

test('workflows pin actions by commit, with the version in a comment', () => {
  const used = workflows.flatMap(({ text }) => text.match(/\buses: (?!\.\/).*/g) ?? []);
  expect(used.length).toBeGreaterThan(5);
  for (const line of used) expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
