import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { expect, test } from '@playwright/test';
import { build } from 'esbuild';
import { globSync } from 'tinyglobby';
import ts from 'typescript';
import {
  errorCodes,
  errorOf,
  LeaseError,
  OptionsError,
  PoolwrightError,
  ServiceError,
  withCodedName,
} from '../../src/errors.ts';

/** Of any work: the class says of which. */
const BOUNDS = ['TIMEOUT', 'ABORTED'];

test('has one class for each code, wherever the source throws it', () => {
  const known = new Map<string, string>(errorCodes.map((code) => [code, errorOf(code, '').name]));
  const wrong: string[] = [];
  let seen = 0;
  for (const path of globSync('src/**/*.ts')) {
    const text = readFileSync(path, 'utf8');
    if (!/\bnew \w+Error\b/.test(text)) continue; // parsing takes longer
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
    const visit = (node: ts.Node): void => {
      if (
        ts.isNewExpression(node) &&
        /^(Poolwright|Service|Lease|Emulator)Error$/.test(node.expression.getText(source))
      ) {
        const [code] = node.arguments ?? [];
        if (code && ts.isStringLiteral(code) && !BOUNDS.includes(code.text)) {
          seen += 1;
          const name = node.expression.getText(source);
          if (known.get(code.text) !== name) wrong.push(`${path}: ${name} for ${code.text}`);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  expect(wrong).toEqual([]);
  expect(seen).toBeGreaterThan(20); // the check sees what it has to see
});

test("prints a user's mistake as its message alone", () => {
  const error = new OptionsError('pol', 'poolwright: wrong options');
  expect(inspect(error)).toBe('OptionsError [OPTIONS_INVALID]: poolwright: wrong options');
  expect(Object.keys(error)).toEqual([]);
  expect(error).toMatchObject({ name: 'OptionsError', code: 'OPTIONS_INVALID', field: 'pol' });
});

test('is printed with its code, by runners that show the stack, and by those that show name and message', () => {
  for (const code of errorCodes) {
    const error = errorOf(code, 'a message with $& in it');
    const { name } = error;
    const printed = `${name} [${code}]: a message with $& in it`;
    expect(String(error)).toBe(printed);
    expect(error.stack?.split('\n')[0]).toBe(printed);
    expect(inspect(error).split('\n')[0]).toBe(printed);
    expect(error.message).toBe('a message with $& in it');
    const coded = withCodedName(withCodedName(error));
    expect(`${coded.name}: ${coded.message}`).toBe(printed);
    expect(String(coded)).toBe(printed);
    expect(coded).toBeInstanceOf(Object.getPrototypeOf(error).constructor);
  }
  expect(withCodedName(new TypeError('another')).name).toBe('TypeError');
});

test('keeps the names of classes that a bundler renames', () => {
  for (const code of errorCodes) {
    const error = errorOf(code, 'm');
    expect(error.constructor.name).toBe(error.name);
    expect(error.name).toMatch(/^(Poolwright|Options|Service|Lease|Emulator)Error$/);
  }
});

test('knows errors of another copy of the package by `instanceof`', async () => {
  const copy = await copyOfErrors();
  const error: unknown = new copy.LeaseError('BROWSER_LOST', 'm');
  expect(Object.getPrototypeOf(error)).not.toBe(LeaseError.prototype);
  expect(error).toBeInstanceOf(LeaseError);
  expect(error).toBeInstanceOf(PoolwrightError);
  expect(error).not.toBeInstanceOf(ServiceError);
  expect(new copy.PoolwrightError('BROKER_LOST', 'm')).not.toBeInstanceOf(LeaseError);
  class Extended extends LeaseError {}
  expect(error).not.toBeInstanceOf(Extended);
  expect(new Extended('BROWSER_LOST', 'm')).toBeInstanceOf(copy.LeaseError);
});

/** As the package has it twice: for Vitest and Jest, and for everything else. */
async function copyOfErrors(): Promise<typeof import('../../src/errors.ts')> {
  const options = { bundle: true, platform: 'node', format: 'esm', write: false } as const;
  const { outputFiles } = await build({ entryPoints: ['src/errors.ts'], ...options });
  const [{ text } = { text: '' }] = outputFiles;
  return await import(`data:text/javascript,${encodeURIComponent(text)}`);
}
