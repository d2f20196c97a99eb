import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { projectFolder } from '../../../src/options/project-directory.ts';

interface Fixtures {
  /** A project without `node_modules`, on a machine whose home and temporary folder are below `root`. */
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
  test.skip(process.platform === 'win32', 'its temporary folder is the user’s own');

  test('is in its node_modules', ({ project }) => {
    mkdirSync(join(project, 'node_modules'));
    expect(projectFolder(project).ledgerFolder).toBe(join(project, 'node_modules/.cache/poolwright'));
  });

  test('is in the home directory when there is no node_modules', ({ project, home }) => {
    const { ledgerFolder } = projectFolder(project);
    expect(ledgerFolder).toMatch(/\/home\/\.cache\/poolwright\/[0-9a-f]{12}$/);
    expect(ledgerFolder?.startsWith(home)).toBe(true);
  });

  test.describe('without a home', () => {
    test.beforeEach(({ home }) => rmSync(home, { recursive: true }));

    test('is in the temporary directory, where only this user can enter', ({ project }) => {
      expect(projectFolder(project).ledgerFolder).toMatch(new RegExp(`^${own()}/[0-9a-f]{12}$`));
      expect(lstatSync(own()).mode & 0o777).toBe(0o700);
      expect(projectFolder(project).ledgerFolder).not.toBeNull(); // the next time it is there
    });

    test('is missing when another user has prepared a link there', ({ project, root }) => {
      mkdirSync(join(root, 'elsewhere'), { mode: 0o700 });
      symlinkSync(join(root, 'elsewhere'), own());
      expect(projectFolder(project).ledgerFolder).toBeNull();
    });

    test('is missing when others may write there', ({ project }) => {
      mkdirSync(own());
      chmodSync(own(), 0o777);
      expect(projectFolder(project).ledgerFolder).toBeNull();
    });

    test('is missing when it is a file', ({ project }) => {
      writeFileSync(own(), '');
      expect(projectFolder(project).ledgerFolder).toBeNull();
    });

    test('is missing when it belongs to another user', ({ project }) => {
      test.skip(process.getuid?.() !== 0, 'only root can give a folder away');
      mkdirSync(own(), { mode: 0o700 });
      chownSync(own(), OTHER_USER, OTHER_USER);
      expect(projectFolder(project).ledgerFolder).toBeNull();
    });
  });

  test('is not in a home of another user, as with sudo', ({ project, home }) => {
    test.skip(process.getuid?.() !== 0, 'only root can give a folder away');
    chownSync(home, OTHER_USER, OTHER_USER);
    expect(projectFolder(project).ledgerFolder).toMatch(new RegExp(`^${own()}/`));
  });
});
