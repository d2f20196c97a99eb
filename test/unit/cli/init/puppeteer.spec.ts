import { expect, manifest, test } from '../../../support/unit/init/project.ts';

/** `init` for Puppeteer tests: the script `test:hosted`. What other scripts run stays as it is. */

const COMMANDS = {
  vitest: 'vitest run --config vitest.hosted.config.mjs',
  jest: 'jest --preset poolwright/jest',
  mocha: 'mocha --require poolwright/mocha',
};

for (const [runner, command] of Object.entries(COMMANDS)) {
  test(`${runner} › adds the same script as for Playwright, beside one that runs the tests`, async ({ project }) => {
    const own = runner === 'vitest' ? 'vitest run' : runner;
    const files = { 'package.json': manifest(['puppeteer', runner], { test: own }) };
    const { texts, byHand, next } = await (await project(files)).plan();
    expect(JSON.parse(texts['package.json'] ?? '').scripts).toEqual({ test: own, 'test:hosted': command });
    expect(byHand).toEqual([]);
    expect(next.at(-1)).toBe('npm run test:hosted');
    const second = await (await project(texts)).plan();
    expect(second.texts).toEqual({});
  });
}

test("uses a config that names poolwright's module as it is", async ({ project }) => {
  for (const [runner, file, text, command] of [
    ['vitest', 'vitest.config.ts', "export default { test: { globalSetup: 'poolwright/vitest' } };", 'vitest run'],
    ['jest', 'jest.config.ts', "export default { preset: 'poolwright/jest' };", 'jest'],
    ['mocha', '.mocharc.yml', 'require:\n  - poolwright/mocha\n', 'mocha'],
  ] as const) {
    const { plan } = await project({
      'package.json': manifest(['puppeteer', runner], { test: command }),
      [file]: text,
    });
    const { texts, present } = await plan();
    expect(JSON.parse(texts['package.json'] ?? '').scripts).toEqual({ test: command, 'test:hosted': command });
    expect(present[0]).toBe(`${file} names poolwright/${runner}`);
  }
  const section = manifest(['puppeteer', 'jest']).replace('{', '{\n  "jest": { "preset": "poolwright/jest" },');
  const { texts, present } = await (await project({ 'package.json': section })).plan();
  expect(texts['package.json']).toContain('"test:hosted": "jest"');
  expect(present[0]).toBe('package.json names poolwright/jest');
});

test('Vitest: writes a second config, around one of any form', async ({ project }) => {
  const hosted = async (files: Record<string, string>) => {
    const { plan } = await project({ 'package.json': manifest(['puppeteer', 'vitest']), ...files });
    const { texts, next, byHand } = await plan();
    expect(next.join('\n')).toContain("import { test } from 'poolwright/vitest'");
    return texts['vitest.hosted.config.mjs'] ?? byHand[0]?.why;
  };
  expect(await hosted({})).toContain("export default { test: { globalSetup: ['poolwright/vitest'] } };");
  const around = await hosted({ 'vite.config.ts': '', 'vitest.config.ts': 'export default ({ mode }) => ({});\n' });
  expect(around).toContain("import config from './vitest.config.ts';");
  expect(around).toContain("globalSetup: ['poolwright/vitest']");
  expect(await hosted({ 'vite.config.mts': '' })).toContain("import config from './vite.config.mts';");
  expect(await hosted({ 'vitest.hosted.config.mjs': 'export default {};\n' })).toBe('does not name poolwright/vitest');
});

test('Jest: leaves another preset to the user, because Jest takes one', async ({ project }) => {
  const seen = async (text: string) => {
    const { plan } = await project({ 'package.json': manifest(['puppeteer', 'jest']), 'jest.config.js': text });
    const { texts, byHand } = await plan();
    return { script: JSON.parse(texts['package.json'] ?? '').scripts['test:hosted'], byHand: byHand[0] };
  };
  const { script, byHand } = await seen("module.exports = { preset: 'ts-jest' };\n");
  expect(script).toBe('jest --config jest.hosted.config.js');
  expect(byHand).toMatchObject({
    file: 'jest.hosted.config.js',
    why: "has to combine the preset ts-jest with poolwright's, because Jest takes one",
    lines: ["module.exports = { ...require('poolwright/jest/jest-preset'), ...require('./jest.config.js') };"],
  });
  for (const text of ["module.exports = { preset: 'jest-puppeteer' };\n", "// preset: 'x'\nmodule.exports = {};\n"])
    expect(await seen(text)).toEqual({ script: COMMANDS.jest, byHand: undefined });
});

test('node:test: adds only the script; the runner and its config can be named', async ({ project }) => {
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
  expect(Object.keys(mocha.texts)).toEqual(['package.json', '.gitignore']);
  expect(mocha.texts['package.json']).toContain(`"test:hosted": "${COMMANDS.mocha} --config suite.mocharc.json"`);
});
