import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@playwright/test';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { parseHostedOptions } from '../../../src/options/schema/parse.ts';
import { type CodeBlock, codeIn, docsPages } from '../../support/docs/pages.ts';
import { entrySources, typeErrors } from '../../support/docs/type-check.ts';

/** The code in the README and in docs/. What a script does is tried in `test/e2e/docs-scripts.spec.ts`. */

const LANGUAGES = ['ts', 'js', 'sh', 'json', 'yaml', 'mermaid'];

test('every code block has a language', () => {
  const fences = docsPages().flatMap(({ path, text }) =>
    [...text.matchAll(/^\s*```(\w+)/gm)].map(([, language]) => ({ path, language })),
  );
  expect(fences.filter(({ language }) => !LANGUAGES.includes(language ?? ''))).toEqual([]);
  expect(codeIn('')).toEqual([]);
});

test('TypeScript compiles, and JavaScript imports existing names', () => {
  const blocks = codeIn('ts', 'js');
  expect(blocks.length).toBeGreaterThan(15);
  const broken: CodeBlock = {
    page: 'test',
    line: 1,
    language: 'ts',
    code: `import { withHostedBrowsers } from 'poolwright';\nwithHostedBrowsers({}, { pol: 'x' });`,
    unchecked: null,
  };
  const unknown = {
    ...broken,
    language: 'js',
    code: `import { nothing } from 'poolwright/client';\nnothing(unknown);`,
  };
  const found = typeErrors([...blocks, broken, unknown]);
  expect(found.filter((error) => !error.startsWith('test:'))).toEqual([]);
  // The check sees what it has to see.
  expect(found.map((error) => error.slice(0, 'test:2'.length))).toEqual(['test:2', 'test:1']);
});

for (const { page, line, code } of codeIn('ts').filter(({ code }) => /withHostedBrowsers\(/.test(code))) {
  test(`${page}:${line}: the config loads, and its options are valid`, async ({}, testInfo) => {
    await writeFile(testInfo.outputPath('playwright.config.ts'), 'export default {};\n');
    const config = await defaultOf(testInfo.outputPath('config.ts'), code);
    expect(config).toHaveProperty('globalSetup');
    expect(config).toHaveProperty('reporter');
  });
}

for (const block of codeIn('ts', 'js').filter((each) => /^poolwright\.config\./.test(fileOf(each) ?? ''))) {
  test(`${block.page}:${block.line}: the options are valid`, async ({}, testInfo) => {
    const options = await defaultOf(testInfo.outputPath('options.ts'), block.code);
    expect(Object.keys(parseHostedOptions(options, 'options'))).not.toEqual([]);
  });
}

test('JSON and YAML parse', () => {
  const problems = [
    ...codeIn('json').flatMap(({ page, line, code }) => {
      const { error } = ts.parseConfigFileTextToJson(page, code);
      return error ? [`${page}:${line}: ${ts.flattenDiagnosticMessageText(error.messageText, ' ')}`] : [];
    }),
    ...codeIn('yaml').flatMap(({ page, line, code }) =>
      parseAllDocuments(code).flatMap(({ errors }) => errors.map(({ message }) => `${page}:${line}: ${message}`)),
    ),
  ];
  expect(problems).toEqual([]);
});

/** The file that a block is, by the comment in its first line. */
function fileOf({ code }: CodeBlock): string | undefined {
  return /^\/\/ (\S+)\n/.exec(code)?.[1];
}

/** What a module exports by default, with the sources in the place of the package. */
async function defaultOf(file: string, code: string): Promise<unknown> {
  const sources = entrySources();
  const onSources = code.replaceAll(/from '(poolwright[^']*)'/g, (whole, name: string) =>
    sources[name] ? `from ${JSON.stringify(sources[name])}` : whole,
  );
  await writeFile(file, onSources);
  return (await import(pathToFileURL(file).href)).default;
}
