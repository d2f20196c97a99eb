import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { projectDirectory } from '../../../src/options/project-directory.ts';
import { requires } from '../../support/requires.ts';

interface Fixtures {
  /** A project without `node_modules`, on a machine whose home and temporary directory are below `root`. */
  project: string;
  root: string;
  home: string;
  temporary: string;
}

const OTHER_USER = 54_321;
const NAMES = ['HOME', 'TMPDIR'];

const test = base.extend<Fixtures>({
  root: async ({}, use) => {
    const root = mkdtempSync(join(tmpdir(), 'project-test-'));
    const before = NAMES.map((name) => [name, process.env[name]] as const);
    process.env.HOME = join(root, 'home');
    process.env.TMPDIR = join(root, 'tmp');
    mkdirSync(process.env.HOME, { mode: 0o755 });
    mkdirSync(process.env.TMPDIR);
    chmodSync(process.env.TMPDIR, 0o1777);
    await use(root);
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(root, { recursive: true, force: true });
  },
  home: async ({ root }, use) => use(join(root, 'home')),
  temporary: async ({ root }, use) => use(join(root, 'tmp')),
  project: async ({ root }, use) => {
    const project = join(root, 'app');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "name": "app" }');
    await use(project);
  },
});

const own = () => join(process.env.TMPDIR ?? '', `poolwright-${userInfo().username}`);

test.describe("the directory of a project's ledgers", () => {
  requires('POSIX');

  test('is in its node_modules', ({ project }) => {
    mkdirSync(join(project, 'node_modules'));
    expect(projectDirectory(project).ledgerDirectory).toBe(join(project, 'node_modules/.cache/poolwright'));
  });

  test('is in the home directory when there is no node_modules', ({ project, home }) => {
    const { ledgerDirectory } = projectDirectory(project);
    expect(ledgerDirectory).toMatch(/\/home\/\.cache\/poolwright\/[0-9a-f]{12}$/);
    expect(ledgerDirectory?.startsWith(home)).toBe(true);
  });

  test.describe('without a home', () => {
    test.beforeEach(({ home }) => rmSync(home, { recursive: true }));

    test('is in the temporary directory, where only this user can enter', ({ project }) => {
      expect(projectDirectory(project).ledgerDirectory).toMatch(new RegExp(`^${own()}/[0-9a-f]{12}$`));
      expect(lstatSync(own()).mode & 0o777).toBe(0o700);
      expect(projectDirectory(project).ledgerDirectory).not.toBeNull(); // the next time it is there
    });

    test('is missing when another user has prepared a link there', ({ project, root }) => {
      mkdirSync(join(root, 'elsewhere'), { mode: 0o700 });
      symlinkSync(join(root, 'elsewhere'), own());
      expect(projectDirectory(project).ledgerDirectory).toBeNull();
    });

    test('is missing when others may write there', ({ project }) => {
      mkdirSync(own());
      chmodSync(own(), 0o777);
      expect(projectDirectory(project).ledgerDirectory).toBeNull();
    });

    test('is missing when it is a file', ({ project }) => {
      writeFileSync(own(), '');
      expect(projectDirectory(project).ledgerDirectory).toBeNull();
    });

    test('is missing when it belongs to another user', ({ project }) => {
      requires('root');
      mkdirSync(own(), { mode: 0o700 });
      chownSync(own(), OTHER_USER, OTHER_USER);
      expect(projectDirectory(project).ledgerDirectory).toBeNull();
    });
  });

  test('is not in a home of another user, as with sudo', ({ project, home }) => {
    requires('root');
    chownSync(home, OTHER_USER, OTHER_USER);
    expect(projectDirectory(project).ledgerDirectory).toMatch(new RegExp(`^${own()}/`));
  });
});
