import type { FullConfig } from '@playwright/test';
import { expect, test } from '@playwright/test';
import { selectedProjects, selectionOf } from '../../../../../src/runners/playwright-test/setup/selected-projects.ts';

/** The projects that a run may run. If none of them uses hosted browsers, the service is not called. */

const project = (name: string, dependencies: string[] = [], teardown?: string) => ({ name, dependencies, teardown });
const projects = [
  project('login', [], 'logout'),
  project('logout'),
  project('Mobile Chrome', ['login']),
  project('webkit'),
  project('webkit-tablet'),
];
const config = (filtered?: string[]) =>
  ({
    projects,
    ...(filtered && { filteredProjects: projects.filter(({ name }) => filtered.includes(name)) }),
  }) as unknown as FullConfig;

const ALL = projects.map(({ name }) => name);
const cases: { args: string[]; names: string[] }[] = [
  { args: [], names: ALL },
  { args: ['--project=webkit'], names: ['webkit'] },
  { args: ['--project', 'webkit', '--headed'], names: ['webkit'] },
  { args: ['--project=WebKit*'], names: ['webkit', 'webkit-tablet'] },
  { args: ['--project=webkit', '--project=logout'], names: ['webkit', 'logout'] },
  // The next argument may be a project or a file.
  { args: ['--project', 'webkit', 'Mobile Chrome'], names: ['webkit', 'Mobile Chrome', 'login', 'logout'] },
  { args: ['--project=mobile chrome'], names: ['Mobile Chrome', 'login', 'logout'] },
  { args: ['-g', 'webkit', '--workers=1'], names: ALL },
];
for (const { args, names } of cases) {
  test(`finds the projects of \`playwright test ${args.join(' ')}\``, () => {
    expect([...selectedProjects(config(), ['node', 'cli.js', 'test', ...args])].sort()).toEqual([...names].sort());
  });
}

test('trusts Playwright when it lists the projects itself', () => {
  const selected = selectedProjects(config(['Mobile Chrome']), ['--project=webkit']);
  expect([...selected].sort()).toEqual(['Mobile Chrome', 'login', 'logout']);
});

test('leaves out a project of a config that runs only if it is named', () => {
  const projects = [
    { name: 'usual', isLocal: false },
    { name: 'slow', isLocal: false, default: false },
    { name: 'local', isLocal: true, default: false },
  ];
  expect(selectionOf(projects, ['test'])).toEqual({ hosted: new Set(['usual']), hasLocal: false });
  expect(selectionOf(projects, ['test', '--project=slow'])).toEqual({ hosted: new Set(['slow']), hasLocal: false });
});
