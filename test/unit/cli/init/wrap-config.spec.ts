import { runInNewContext } from 'node:vm';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { wrapConfig } from '../../../../src/cli/init/playwright/wrap-config.ts';
import { comparable, loadConfig } from '../../../support/unit/init/load-config.ts';
import { type Shape, shapes } from '../../../support/unit/init/shapes.ts';

/** `init` on a Playwright config, by the shapes that public repositories have. */

function wrapped({ name, text }: Pick<Shape, 'name' | 'text'>): string {
  const result = wrapConfig(text, name);
  if (result.result !== 'wrapped') throw new Error(`${name}: ${JSON.stringify(result)}`);
  return result.text;
}

/** The text without what an edit adds: a line, and a call around an expression. */
function withoutEdit(edited: string, original: string): string {
  const [line = ''] = /[^\n;]*withHostedBrowsers \} (from|= require\()[^\n;]*;?/.exec(edited) ?? [];
  // Below another line, or above all of them and an empty one.
  const [below = '', above = ''] = [`\n${line}`, `${line}\n\n`].map((added) => {
    const call = edited.replace(line && added, '').replace(/\b(withHostedBrowsers|hosted)(<\w+>)?\(/, '');
    // Where the two part is the parenthesis that closes the call.
    const at = call.split('').findIndex((unit, n) => unit !== original[n]);
    return call[at] === ')' ? call.slice(0, at) + call.slice(at + 1) : call;
  });
  return above === original ? above : below;
}

test('there are enough shapes, and each says what it stands for', () => {
  expect(shapes.length).toBeGreaterThan(60);
  expect(shapes.filter(({ result }) => result === 'wrapped').length).toBeGreaterThan(50);
  expect(shapes.filter(({ says, text }) => says === '' || text === '')).toEqual([]);
  expect(new Set(shapes.map(({ says }) => says)).size).toBe(shapes.length);
});

for (const shape of shapes) {
  test(`${shape.name}: ${shape.says}`, async ({}, testInfo) => {
    const { name, text, result } = shape;
    const first = wrapConfig(text, name);
    if (result !== 'wrapped') {
      expect(first.result === 'by hand' ? `by hand: ${first.why}` : first.result).toContain(result);
      return;
    }
    const edited = wrapped(shape);
    expect(wrapConfig(edited, name)).toEqual({ result: 'present' });

    // Everything else is as it was, byte by byte, with the line endings of the file.
    const isRewritten = /^(re-export|export-list)/.test(name);
    if (!isRewritten) expect(withoutEdit(edited, text)).toBe(text);
    const crlf = (lf: string) => lf.replaceAll('\n', '\r\n');
    expect(wrapped({ name, text: crlf(text) })).toBe(crlf(edited));

    const [before, after] = [testInfo.outputPath('before'), testInfo.outputPath('after')];
    const original = comparable(await loadConfig(before, shape, text), before);
    const loaded = comparable(await loadConfig(after, shape, edited), after);
    expect(loaded).toEqual({ ...(original as object), wrapped: 1 });
  });
}

test('the new line looks like the others, and stands below the import of Playwright', () => {
  const edited = Object.fromEntries(
    shapes.filter(({ result }) => result === 'wrapped').map((shape) => [shape.name, wrapped(shape).split('\n')]),
  );
  const around = (name: string) => {
    const lines = edited[name] ?? [];
    const at = lines.findIndex((line) => /withHostedBrowsers \}/.test(line));
    return lines.slice(Math.max(0, at - 1), at + 2);
  };
  expect(around('template.ts')).toEqual([
    "import { defineConfig, devices } from '@playwright/test';",
    "import { withHostedBrowsers } from 'poolwright';",
    '',
  ]);
  expect(around('no-semicolons.ts')[1]).toBe('import { withHostedBrowsers } from "poolwright"');
  expect(around('eslint-env.js')).toEqual([
    "const { defineConfig } = require('@playwright/test')",
    "const { withHostedBrowsers } = require('poolwright')",
    '',
  ]);
  expect(around('typed-variable.ts')[0]).toBe('import { devices } from "@playwright/test";');
  expect(around('compiled.js')[1]).toBe('const { withHostedBrowsers } = require("poolwright");');
  expect(around('strict.js')[1]).toBe("var { withHostedBrowsers } = require('poolwright');");
  // A comment about the file stays first, a type stays with what it types.
  expect(edited['comment-tight.js']?.slice(0, 4)).toEqual([
    '// @ts-check',
    "const { withHostedBrowsers } = require('poolwright');",
    '',
    "/** @type {import('@playwright/test').PlaywrightTestConfig} */",
  ]);
  expect(edited['licence-no-import.js']?.slice(2, 7)).toEqual([
    ' */',
    '',
    "const { withHostedBrowsers } = require('poolwright');",
    '',
    "/** @type {import('@playwright/test').PlaywrightTestConfig} */",
  ]);
  expect(edited['shebang.mjs']?.[0]).toBe('#!/usr/bin/env node');
});

test("Playwright's own defineConfig stays outside, so that its types know `use.hosted`; a merge stays inside", () => {
  const line = (name: string, pattern: RegExp) =>
    wrapped(shapes.find((shape) => shape.name === name) as Shape)
      .split('\n')
      .find((each) => pattern.test(each));
  const call = /withHostedBrowsers(<\w+>)?\(/;
  expect(line('template.ts', call)).toBe('export default defineConfig(withHostedBrowsers({');
  expect(line('type-argument.ts', call)).toBe(
    'export default defineConfig<TestOptions>(withHostedBrowsers<TestOptions>({',
  );
  expect(line('alias.ts', call)).toBe('export default define(withHostedBrowsers({');
  expect(line('two-arguments.ts', call)).toBe('export default withHostedBrowsers(defineConfig(baseConfig, {');
  expect(line('other-name.ts', call)).toBe("export default withHostedBrowsers(defineConfig({ appName: 'own' }));");
  expect(line('compiled.js', call)).toBe('exports.default = withHostedBrowsers((0, test_1.defineConfig)({');
  expect(line('satisfies.ts', /satisfies/)).toBe('}) satisfies PlaywrightTestConfig');
  expect(line('as-const.ts', /as const/)).toBe('} as const);');
});

/** Parts that configs are made of, put together at random. */
const value = fc.oneof(
  fc.constantFrom('1', "'it'.length", '"a)b}"', '`x\n)`', '/[)}]/g', 'undefined', '[1, 2]', '() => ({ a: 1 })'),
  fc.integer().map(String),
);
const gap = fc.constantFrom('', ' ', '\n', ' /* c */ ', ' // withHostedBrowsers(\n', '\n\n\t');
const object = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', '"c d"', '[`e`]', '...base'), value, gap), { maxLength: 4 })
  .map((parts) => parts.map(([key, of, space]) => (key === '...base' ? `${key},${space}` : `${key}: ${of},${space}`)))
  .map((parts) => `{${parts.join(' ')}}`);
const expression = fc.oneof(
  object,
  object.map((own) => `defineConfig(${own})`),
  object.map((own) => `pw.defineConfig(base, ${own})`),
  object.map((own) => `Object.assign({}, base, ${own})`),
  object.map((own) => `(0, pw.defineConfig)(${own})`),
  object.map((own) => `(${own})`),
  object.map((own) => `(() => (${own}))()`),
  fc.tuple(object, object).map(([one, other]) => `(base.x ? ${one} : ${other})`),
  fc.constant('base'),
);

test('whatever a config is made of, it is wrapped once, and nothing else changes', () => {
  const run = (text: string) => {
    const parts = (config: object, more?: object) => ({ ...config, ...more });
    const modules: Record<string, unknown> = {
      '@playwright/test': { defineConfig: parts },
      poolwright: {
        withHostedBrowsers: (config: { wrapped?: number }) => ({ ...config, wrapped: (config.wrapped ?? 0) + 1 }),
      },
    };
    const module = { exports: {} };
    runInNewContext(text, { module, exports: module.exports, require: (name: string) => modules[name] });
    return comparable(module.exports, '') as object;
  };
  fc.assert(
    fc.property(
      expression,
      gap,
      gap,
      fc.boolean(),
      fc.constantFrom('\n', '\r\n'),
      (exported, before, after, named, eol) => {
        const head = `const { defineConfig } = require('@playwright/test');\nconst pw = require('@playwright/test');\n`;
        const tail = named
          ? `const config =${before} ${exported};\nmodule.exports =${after} config;`
          : `module.exports =${before} ${exported}${after};\n`;
        const text = `${head}const base = { base: 1 };\n${tail}`.replaceAll('\n', eol);
        const edited = wrapped({ name: 'a.js', text });
        expect(wrapConfig(edited, 'a.js')).toEqual({ result: 'present' });
        expect(run(edited)).toEqual({ ...run(text), wrapped: 1 });
        expect(edited.length).toBe(
          text.length +
            `const { withHostedBrowsers } = require('poolwright');${eol}`.length +
            'withHostedBrowsers()'.length,
        );
      },
    ),
    { numRuns: 500 },
  );
});
