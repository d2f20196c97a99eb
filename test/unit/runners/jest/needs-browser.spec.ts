import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from '@playwright/test';
import { needsBrowser } from '../../../../src/runners/jest/needs-browser.ts';

/** The test files for which Jest leases a browser. */

const CASES: Record<string, { files: Record<string, string>; needs: boolean }> = {
  'a global in the file': { files: { 'a.test.js': `test('x', () => page.title());` }, needs: true },
  'a word that only looks like one': { files: { 'a.test.js': `const pages = browserless.contextual;` }, needs: false },
  'nothing but packages and modules of Node': {
    files: {
      'a.test.js': `import { expect } from '@jest/globals'; import fs from 'node:fs'; const path = require('path');`,
    },
    needs: false,
  },
  'a helper of a helper': {
    files: {
      'a.test.ts': `import { login } from './lib/login.js';`,
      'lib/login.ts': `export { open } from '../open';`,
      'open/index.js': `exports.open = () => page.goto('/');`,
    },
    needs: true,
  },
  'helpers in a circle, without one': {
    files: { 'a.test.js': `require('./b');`, 'b.js': `require('./c.cjs');`, 'c.cjs': `require('./b.js');` },
    needs: false,
  },
  'a module that is not there': { files: { 'a.test.js': `import './gone';` }, needs: true },
  'a name that Jest maps': { files: { 'a.test.js': `import { open } from '@/open';` }, needs: true },
  'a name that is made up at run time': { files: { 'a.test.js': `require(path.join(__dirname, 'x'));` }, needs: true },
  'a mock that asks for the actual module': {
    files: { 'a.test.js': `jest.requireActual('./b');`, 'b.js': `hostedSession;` },
    needs: true,
  },
};

for (const [name, { files, needs }] of Object.entries(CASES)) {
  test(`${name}: ${needs ? 'a browser' : 'none'}`, async ({}, testInfo) => {
    for (const [file, source] of Object.entries(files)) {
      const path = testInfo.outputPath(file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, source);
    }
    const [first = ''] = Object.keys(files);
    expect(needsBrowser([join(testInfo.outputDir, first)])).toBe(needs);
  });
}

test('assumes that an unreadable file, or one of very many, may need a browser', async ({}, testInfo) => {
  expect(needsBrowser([testInfo.outputPath('gone.test.js')])).toBe(true);
  const plain = testInfo.outputPath('plain.js');
  const asks = testInfo.outputPath('setup.js');
  await writeFile(plain, 'test;');
  await writeFile(asks, 'context;');
  expect(needsBrowser([plain])).toBe(false);
  expect(needsBrowser([plain, asks])).toBe(true);
});
