import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { expect, test } from '../../support/unit/init/project.ts';

/** The config that `init` writes for Playwright, as TypeScript sees it. */

const CONFIG = `import { defineConfig } from '@playwright/test';

export default defineConfig({ testDir: './tests', projects: [{ name: 'a', use: { locale: 'de-DE' } }] });
`;

test('TypeScript finds no error in the config, under each module resolution', async ({ project }, testInfo) => {
  const root = resolve(import.meta.dirname, '../../..');
  const { plan } = await project({ 'playwright.config.ts': CONFIG });
  const { 'playwright.hosted.config.ts': hosted = '' } = (await plan()).texts;
  const directory = testInfo.outputPath('typed');
  const files = {
    'playwright.config.ts': CONFIG,
    'right.ts': hosted,
    'wrong.ts': hosted.replace('withHostedBrowsers(config)', "withHostedBrowsers(config, { pol: 'x' })"),
    'package.json': '{"type":"module"}',
  };
  mkdirSync(directory, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  const complaints = (names: string[], options: ts.CompilerOptions) => {
    const paths = names.map((name) => join(directory, name));
    const program = ts.createProgram(paths, {
      target: ts.ScriptTarget.ES2023,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true, // our own sources' imports
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      paths: { poolwright: [join(root, 'src/index.ts')] },
      ...options,
    });
    // Of these files alone: `node scripts/types.mjs` checks the sources.
    return paths.map((path) =>
      ts
        .getPreEmitDiagnostics(program, program.getSourceFile(path))
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
    );
  };
  const bundler = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
  const nodenext = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
  expect(complaints(['right.ts'], nodenext)).toEqual([[]]);
  expect(complaints(['right.ts', 'wrong.ts'], bundler)).toEqual([[], [expect.stringContaining("'pol'")]]);
});
