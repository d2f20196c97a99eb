import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { expect, test } from '@playwright/test';
import { entriesOf } from '../../../scripts/package/entries.mjs';
import { lintPackage, lintTypes } from '../../../scripts/package/linters.mjs';
import { pack } from '../../../scripts/package/pack.mjs';
import { budgetFor, measure, overBudget, readBudget } from '../../../scripts/package/sizes.mjs';

const root = resolve(import.meta.dirname, '../../..');
const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/** Runs a script of the repository; its output is the message of a failure. */
function runScript(file: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], { cwd: root, encoding: 'utf8' });
  return { status, printed: stdout + stderr };
}

test('check.mjs › finds no problem and no size above its limit', () => {
  const { status, printed } = runScript('scripts/package/check.mjs');
  expect(status, printed).toBe(0);
  expect(printed).toContain(`${entriesOf(manifest).length} entries, 0 problems`);
});

test('npm run api › the exports match api/', () => {
  const { status, printed } = runScript('scripts/api.mjs', '--check');
  expect(status, printed).toBe(0);
});

test('check.mjs › finds the problems of a broken package', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-wrong-'));
  try {
    const wrong = {
      'package.json': JSON.stringify({
        name: 'wrong',
        version: '1.0.0',
        exports: { '.': { types: './index.d.ts', import: './index.js', require: './missing.cjs' } },
      }),
      'index.js': 'export const a = 1;',
      'index.d.ts': 'export const a: number;',
    };
    await Promise.all(Object.entries(wrong).map(([file, text]) => writeFile(join(directory, file), text)));
    const { file } = pack(directory, directory);
    expect((await lintPackage(file)).join('\n')).toMatch(/missing\.cjs/);
    const entries = entriesOf(JSON.parse(wrong['package.json']));
    expect((await lintTypes(file, entries, 'wrong')).join('\n')).toMatch(/FalseESM|FalseCJS|wrong/);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('check.mjs › reports a size above its limit, and sizes and limits without the other', async () => {
  const sizes = { packed: 1_000, unpacked: 5_000, poolwright: 10 };
  expect(overBudget(sizes, JSON.parse(budgetFor(sizes)))).toEqual([]);
  expect(overBudget(sizes, { packed: 999, unpacked: 5_000, 'poolwright/old': 1 })).toEqual([
    expect.stringMatching(/packed has 1000 bytes, 1 more than allowed\. .*node scripts\/package\/check\.mjs --write/),
    expect.stringMatching(/poolwright has no bound/),
    expect.stringMatching(/poolwright\/old .* not part of the package any longer/),
  ]);
  expect(Object.keys(readBudget())).toContain('packed');
  expect(readBudget()['watch, server and page']).toBeLessThanOrEqual(61_000);
});

test('check.mjs › measures an entry by the chunks that it loads at once', async () => {
  const entries = entriesOf(manifest).filter(({ name }) => name === manifest.name);
  const sizes = await measure({ size: 1, unpackedSize: 2 }, entries);
  const index = (await readFile(join(root, 'dist/index.cjs'))).length;
  expect(sizes.poolwright).toBeGreaterThan(index);
  // `require()` in place of `import()` counts as later: a worker loads the broker's client for a lease. zod and the
  // reporter are never loaded.
  expect(sizes.poolwright).toBeLessThan(150_000);
});

test('the SBOM › is CycloneDX, and lists the packages of THIRD_PARTY_LICENSES.txt', async () => {
  const text = await readFile(join(root, 'dist/sbom.cdx.json'), 'utf8');
  expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull();
  const { metadata, components, dependencies } = JSON.parse(text);
  expect(metadata.component).toMatchObject({ name: manifest.name, version: manifest.version });
  const licences = await readFile(join(root, 'dist/THIRD_PARTY_LICENSES.txt'), 'utf8');
  const listed = [...licences.matchAll(/^-{80}\n(\S+) (\S+) \(/gm)].map(([, name, version]) => `${name}@${version}`);
  const named = components.map(({ name, version }: { name: string; version: string }) => `${name}@${version}`);
  expect(named.sort()).toEqual(listed.sort());
  expect(named.length).toBeGreaterThan(20);
  // Each with its text, which has its conditions; llhttp is in undici.
  const texts = licences.split(/^-{80}\n/m).slice(1);
  for (const licence of texts)
    expect(licence).toMatch(/Permission (is hereby granted|to use, copy)|Apache License|Redistribution/);
  expect(licences).toContain('Copyright Fedor Indutny');
  for (const { hashes, licenses, purl, 'bom-ref': ref } of components) {
    expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
    expect(licenses).toHaveLength(1);
    expect(ref).toBe(purl);
  }
  const own = dependencies.find(({ ref }: { ref: string }) => ref === metadata.component['bom-ref']);
  expect(own.dependsOn).toHaveLength(named.length);
});
