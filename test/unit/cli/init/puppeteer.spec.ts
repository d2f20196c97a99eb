import { expect, manifest, test } from '../../../support/unit/init/project.ts';

/** `init` for Puppeteer tests: the runner's config and a script. */

const JEST = manifest(['puppeteer', 'jest']);

test('Jest: adds the preset to a config without one', async ({ project }) => {
  const edited = async (file: string, text: string) => {
    const { plan } = await project({ 'package.json': JEST, [file]: text });
    const { texts, byHand } = await plan();
    return texts[file] ?? byHand[0];
  };
  expect(
    await edited(
      'jest.config.js',
      "/** @type {import('jest').Config} */\nconst config = {\n  testTimeout: 10, // ms\n};\n\nmodule.exports = config;\n",
    ),
  ).toBe(
    "/** @type {import('jest').Config} */\nconst config = {\n  testTimeout: 10, // ms\n  preset: 'poolwright/jest',\n};\n\nmodule.exports = config;\n",
  );
  expect(await edited('jest.config.ts', 'export default { verbose: true };\n')).toBe(
    "export default { verbose: true, preset: 'poolwright/jest' };\n",
  );
  expect(await edited('jest.config.ts', 'export default { verbose: true } as Config;\n')).toBe(
    "export default { verbose: true, preset: 'poolwright/jest' } as Config;\n",
  );
  // `as const` is allowed on a literal alone, and its type may no longer fit.
  expect(await edited('jest.config.ts', 'export default { verbose: true } as const;\n')).toMatchObject({
    why: 'does not export an object literal',
  });
  expect(await edited('jest.config.js', 'exports.default = module.exports = { verbose: true };\n')).toMatchObject({
    why: 'does not export an object literal',
  });
  expect(await edited('jest.config.json', '{\n\t"verbose": true\n}\n')).toBe(
    '{\n\t"verbose": true,\n\t"preset": "poolwright/jest"\n}\n',
  );
  expect(await edited('jest.config.js', 'module.exports = { preset: "jest-puppeteer" };\n')).toMatchObject({
    why: "has the preset 'jest-puppeteer', and Jest takes one",
    lines: ["preset: 'poolwright/jest'", expect.stringContaining('transform')],
  });
  expect(await edited('jest.config.js', "module.exports = { ...require('./base') };\n")).toMatchObject({
    why: 'takes a part from elsewhere, which may have a preset',
  });
  expect(await edited('jest.config.js', 'module.exports = async () => ({});\n')).toMatchObject({
    why: 'does not export an object literal',
  });
});

test('Jest: adds the preset to package.json', async ({ project }) => {
  const without = await (await project({ 'package.json': JEST })).plan();
  expect(without.title).toBe('Puppeteer with Jest');
  expect(JSON.parse(without.texts['package.json'] ?? '')).toMatchObject({
    jest: { preset: 'poolwright/jest' },
    scripts: { 'test:hosted': 'jest' },
  });
  const section = JEST.replace('{', '{\n  "jest": { "verbose": true },');
  const { texts } = await (await project({ 'package.json': section })).plan();
  expect(texts['package.json']).toContain('"jest": { "verbose": true, "preset": "poolwright/jest" },');
  const second = await (await project({ ...texts })).plan();
  expect(second.texts).toEqual({});
  expect(second.present[0]).toBe('package.json names poolwright/jest');
});

test('Mocha: adds a required module', async ({ project }) => {
  const edited = async (file: string, text: string) => {
    const { plan } = await project({ 'package.json': manifest(['puppeteer-core', 'mocha']), [file]: text });
    const { texts, byHand, present } = await plan();
    return texts[file] ?? byHand[0] ?? present[0];
  };
  expect(await edited('.mocharc.json', '{ "timeout": 10000 }')).toBe(
    '{ "timeout": 10000, "require": ["poolwright/mocha"] }',
  );
  expect(await edited('.mocharc.json', '{ "require": "tsx" }')).toBe('{ "require": ["tsx", "poolwright/mocha"] }');
  expect(await edited('.mocharc.jsonc', '{\n  // both\n  "require": [\n    "tsx"\n  ],\n}\n')).toBe(
    '{\n  // both\n  "require": [\n    "tsx",\n    "poolwright/mocha"\n  ],\n}\n',
  );
  expect(await edited('.mocharc.json', '{ "require": ["poolwright/mocha"] }')).toBe(
    '.mocharc.json names poolwright/mocha',
  );
  expect(await edited('.mocharc.cjs', 'module.exports = {\n  require: [],\n};\n')).toBe(
    "module.exports = {\n  require: ['poolwright/mocha'],\n};\n",
  );
  expect(await edited('.mocharc.yml', 'timeout: 100\n')).toMatchObject({
    why: 'is YAML, which is not edited',
    lines: ['require:', '  - poolwright/mocha'],
  });
  const none = await (await project({ 'package.json': manifest(['puppeteer', 'mocha']) })).plan();
  expect(JSON.parse(none.texts['.mocharc.json'] ?? '')).toEqual({ require: ['poolwright/mocha'] });
});

test('Vitest: adds a global setup, and names what tests import', async ({ project }) => {
  const edited = async (file: string, text: string) => {
    const { plan } = await project({ 'package.json': manifest(['puppeteer', 'vitest']), [file]: text });
    const { texts, byHand, next } = await plan();
    expect(next.join('\n')).toContain("import { test } from 'poolwright/vitest'");
    return texts[file] ?? byHand[0];
  };
  const around = (test: string) =>
    `import { defineConfig } from 'vitest/config'\n\nexport default defineConfig({\n${test}})\n`;
  expect(await edited('vitest.config.ts', around('  test: {\n    globals: true\n  }\n'))).toBe(
    around("  test: {\n    globals: true,\n    globalSetup: ['poolwright/vitest']\n  }\n"),
  );
  expect(await edited('vite.config.ts', around('  plugins: [],\n'))).toBe(
    around("  plugins: [],\n  test: { globalSetup: 'poolwright/vitest' },\n"),
  );
  expect(await edited('vitest.config.ts', around("  test: { globalSetup: './setup.ts' },\n"))).toBe(
    around("  test: { globalSetup: ['./setup.ts', 'poolwright/vitest'] },\n"),
  );
  expect(await edited('vitest.config.ts', around("  test: { globalSetup: ['./a.ts', './b.ts'], },\n"))).toBe(
    around("  test: { globalSetup: ['./a.ts', './b.ts', 'poolwright/vitest'], },\n"),
  );
  expect(await edited('vitest.config.ts', 'export default mergeConfig(base, { test: {} })\n')).toMatchObject({
    lines: ["test: { globalSetup: ['poolwright/vitest'] }"],
  });
  const none = await (await project({ 'package.json': manifest(['puppeteer', 'vitest']) })).plan();
  expect(none.texts['vitest.config.mjs']).toContain("globalSetup: ['poolwright/vitest']");
});

test('node:test: adds only the script; the runner can be named', async ({ project }) => {
  const { plan } = await project({ 'package.json': manifest(['puppeteer'], { test: 'node --test tests/' }) });
  const { title, texts } = await plan({ ci: 'buildkite' });
  expect(title).toBe('Puppeteer with node:test');
  expect(Object.keys(texts)).toEqual(['package.json', '.gitignore', '.buildkite/pipeline.yml']);
  expect(texts['package.json']).toContain('"test:hosted": "node --require poolwright/node-test --test"');
  const both = await project({
    'package.json': manifest(['puppeteer', 'mocha']),
    'playwright.config.ts': 'export default {};\n',
    'suite.mocharc.json': '{}',
  });
  const mocha = await both.plan({ runner: 'mocha', config: 'suite.mocharc.json' });
  expect(Object.keys(mocha.texts)).toEqual(['suite.mocharc.json', 'package.json', '.gitignore']);
  expect(mocha.texts['package.json']).toContain('"test:hosted": "mocha --config suite.mocharc.json"');
});

test('leaves a config with several projects to the user', async ({ project }) => {
  const why = async (dependency: string, file: string, text: string) => {
    const { plan } = await project({ 'package.json': manifest(['puppeteer', dependency]), [file]: text });
    return (await plan()).byHand[0]?.why;
  };
  const each = 'has `projects`, each with its own config';
  expect(await why('vitest', 'vitest.config.ts', "export default { test: { projects: ['packages/*'] } };\n")).toBe(
    each,
  );
  expect(await why('jest', 'jest.config.js', "module.exports = { projects: ['<rootDir>/a'] };\n")).toBe(each);
});
