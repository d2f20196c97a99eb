import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { ROOT } from '../../support/docs/pages.ts';

const text = (file: string) => readFileSync(join(ROOT, file), 'utf8');

test('the README fits on two screens, and its badges match package.json', () => {
  const readme = text('README.md');
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  const { license, engines, peerDependencies } = JSON.parse(text('package.json'));
  const badges = [
    `License ${license}`,
    `Node ${engines.node}`,
    `Playwright ${peerDependencies['@playwright/test']}`,
    `Puppeteer ${peerDependencies['puppeteer-core']}`,
  ];
  const line = badges.join(' · ').replaceAll(/>=/g, '≥ ');
  expect(readme).toContain(`**${line}**`);
});

test('the changelog has the version of package.json in at most 25 lines', () => {
  const { version } = JSON.parse(text('package.json'));
  const [, notes = ''] = text('CHANGELOG.md').split(`## ${version}\n`);
  expect(notes.trim()).not.toBe('');
  expect((notes.split('\n## ')[0] ?? '').split('\n').length).toBeLessThanOrEqual(25);
});
