import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from '@playwright/test';
import ts from 'typescript';
import { wrapConfig } from '../../../../src/cli/init/playwright/wrap-config.ts';
import { shapes } from '../../../support/unit/init/shapes.ts';

/** What `init` makes of a typed config is typed as well. */

const root = resolve(import.meta.dirname, '../../../..');
const IMPORT = "import type { PlaywrightTestConfig } from '@playwright/test';\n";
const NEIGHBOURS: Record<string, string> = {
  'base.ts': `${IMPORT}export const baseConfig: PlaywrightTestConfig = { testDir: './shared', use: { locale: 'de-DE' } };
    export default baseConfig;`,
  'types.ts': 'export type TestOptions = { person: string };',
  'hook.ts': 'export default async () => {};',
  'factory.ts': `${IMPORT}export const createPlaywrightConfig = (metadata: object): PlaywrightTestConfig => ({ metadata });
    export const mergeConfigs = (...all: PlaywrightTestConfig[]): PlaywrightTestConfig => Object.assign({}, ...all);
    export const withExtras = (config: PlaywrightTestConfig): PlaywrightTestConfig => ({ ...config });
    export const defineConfig = ({ appName }: { appName: string }): PlaywrightTestConfig => ({ name: appName });`,
  'others.d.ts': `declare module 'dotenv' {
      export function config(options?: object): void;
      const whole: { config(options?: object): void };
      export default whole;
    }
    declare module '@nx/playwright/preset' {
      export function nxE2EPreset(file: string, options: object): import('@playwright/test').PlaywrightTestConfig;
    }
    declare module '@nx/devkit' { export const workspaceRoot: string; }
    declare module 'playwright-bdd' { export function defineBddConfig(options: object): string; }`,
};

/** What TypeScript says about these files, which lie in a folder of their own. */
function complaints(folder: string, files: Record<string, string>): string[] {
  for (const [name, text] of Object.entries({ ...NEIGHBOURS, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const program = ts.createProgram(
    [...Object.keys(files), 'others.d.ts'].map((name) => join(folder, name)),
    {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      resolveJsonModule: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      paths: { poolwright: [join(root, 'src/index.ts')] },
    },
  );
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const name = file?.fileName.slice(folder.length + 1);
    return `${name}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

test('edited configs have no type error', async ({}, testInfo) => {
  // `.cts` needs settings of its own.
  const typed = shapes.filter(({ name, result }) => /\.m?ts$/.test(name) && result === 'wrapped');
  expect(typed.length).toBeGreaterThan(35);
  const edited = typed.map(({ name, text }): [string, string] => {
    const made = wrapConfig(text, name);
    return [`case-${name}`, made.result === 'wrapped' ? made.text : 'an edit;'];
  });
  // The options of hosted browsers are known inside of what is wrapped, and checked.
  const hosted = (value: string) =>
    wrapConfig(
      `import { defineConfig } from '@playwright/test';\nexport default defineConfig({ use: { hosted: ${value} } });\n`,
      'hosted.ts',
    );
  const [right, wrong] = [hosted('false'), hosted("'yes'")];
  const found = complaints(testInfo.outputPath('typed'), {
    ...Object.fromEntries(edited),
    'right.ts': right.result === 'wrapped' ? right.text : 'an edit;',
    'wrong.ts': wrong.result === 'wrapped' ? wrong.text : 'an edit;',
  });
  expect(found.filter((each) => !each.startsWith('wrong.ts'))).toEqual([]);
  expect(found.join('\n')).toMatch(/^wrong\.ts: .*(Type|Types|No overload)/);
});
