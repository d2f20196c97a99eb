import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from '../build.mjs';
import { main } from '../playwright.mjs';
import { entriesOf } from './entries.mjs';
import { lintPackage, lintTypes } from './linters.mjs';
import { pack } from './pack.mjs';
import { BUDGET_FILE, budgetFor, measure, overBudget, readBudget } from './sizes.mjs';

/**
 * `node scripts/package/check.mjs`: lints what would be published (publint, are-the-types-wrong), and holds it to its
 * size. `node scripts/package/check.mjs --write` writes the bounds anew.
 */
await main(async () => {
  await ensureBuilt();
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const entries = entriesOf(manifest);
  const directory = mkdtempSync(join(tmpdir(), 'poolwright-pack-'));
  try {
    const packed = pack(directory);
    const sizes = await measure(packed, entries);
    if (process.argv.includes('--write')) writeFileSync(BUDGET_FILE, budgetFor(sizes));
    const budget = readBudget();
    for (const [what, bytes] of Object.entries(sizes)) {
      console.log(`${what.padEnd(36)} ${kilobytes(bytes)} of ${kilobytes(budget[what] ?? 0)}`);
    }
    const problems = [
      ...overBudget(sizes, budget),
      ...(await lintPackage(packed.file)),
      ...(await lintTypes(packed.file, entries, manifest.name)),
    ];
    for (const problem of problems) console.error(problem);
    console.log(`${entries.length} entries, ${problems.length} problems`);
    return problems.length === 0 ? 0 : 1;
  } finally {
    rmSync(directory, { recursive: true });
  }
});

function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1).padStart(8)} kB`;
}
