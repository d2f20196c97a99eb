import ts from 'typescript';
import { type CodeBlock, codeIn } from '../support/docs/pages.ts';
import { expect, test } from '../support/e2e/fixtures.ts';
import { runCommand } from '../support/e2e/run-command.ts';
import { vitest } from '../support/e2e/runner-kits.ts';
import { aRecord, aSession, aTest } from '../support/unit/records.ts';

/** Runs the documentation's scripts and tests like a reader: with the packed package, on the emulator. */

/** Code with a top-level await is a program. */
const SCRIPT = /^(const .* = )?await /m;

const isTestFile = ({ code }: CodeBlock) => /^\/\/ \S+\.test\.ts\n/.test(code);
const scripts = codeIn('ts').filter((block) => SCRIPT.test(block.code) && !isTestFile(block));

test('documentation › has scripts', () => {
  expect(scripts.length).toBeGreaterThan(4);
});

for (const { page, line, code } of scripts) {
  test(`${page}:${line} › the script runs, and leaves no browser`, async ({ newConsumer, service }) => {
    const consumer = await newConsumer();
    await consumer.write({
      'script.mjs': javascript(code),
      'test-results/poolwright/run.json': JSON.stringify(aRecord({ sessions: [aSession({ tests: [aTest({})] })] })),
    });
    const run = await runCommand(consumer, ['script.mjs'], service.env);
    expect(run.code, run.output).toBe(0);
    await expect.poll(() => service.running()).toEqual([]);
  });
}

test('runners.md › the config and the test file of Vitest run', async ({ newConsumer, service }) => {
  const blocks = codeIn('ts').filter(({ page }) => page === 'docs/runners.md');
  const consumer = await newConsumer();
  await consumer.write(
    Object.fromEntries(
      blocks
        .map(({ code }) => [/^\/\/ (\S+)\.ts\n/.exec(code)?.[1], code])
        .map(([name, code]) => [`${name}.mjs`, javascript(code ?? '')]),
    ),
  );
  const run = await runCommand(consumer, [...vitest.args], service.env);
  expect(run.code, run.output).toBe(0);
  expect(run.output).toContain('1 passed');
  expect(await service.running()).toEqual([]);
});

function javascript(code: string): string {
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  return ts.transpileModule(code, { compilerOptions: options }).outputText;
}
