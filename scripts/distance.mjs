import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main, playwrightTest } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/**
 * `node scripts/distance.mjs`: the end-to-end tests with browsers that are 10 ms away, so that round trips are hidden;
 * what fails is run again with `ahead` off. Fails where something fails only with it. Arguments are Playwright's, file
 * names for example. Not part of the tests: it takes as long as all others.
 */
const RTT_MS = '10';

await main(async () => {
  await setUp();
  const args = process.argv.slice(2);
  const ahead = await failures(args, '1');
  const plain =
    ahead.length > 0
      ? await failures(
          ahead.map(({ place }) => place),
          '0',
        )
      : [];
  const isPlain = new Set(plain.map(({ place }) => place));
  for (const { place, title } of ahead)
    console.log(`${isPlain.has(place) ? 'both ways' : 'only ahead'}: ${place} ${title}`);
  const worse = ahead.filter(({ place }) => !isPlain.has(place)).length;
  console.log(`${ahead.length} failed on browsers ${RTT_MS} ms away, ${worse} of them only with ahead`);
  return worse > 0 ? 1 : 0;
});

/** Tests that fail one way, by file and line. */
async function failures(args, ahead) {
  const directory = mkdtempSync(join(tmpdir(), 'poolwright-distance-'));
  try {
    const report = join(directory, 'report.json');
    await playwrightTest(['--project=e2e', '--reporter=json,line', ...args], {
      TEST_RTT: RTT_MS,
      TEST_AHEAD: ahead,
      PLAYWRIGHT_JSON_OUTPUT_NAME: report,
    });
    const { suites } = JSON.parse(readFileSync(report, 'utf8'));
    const specs = (suite) => [...suite.specs, ...(suite.suites ?? []).flatMap(specs)];
    return suites
      .flatMap(specs)
      .filter(({ ok }) => !ok)
      .map(({ file, line, title }) => ({ place: `${file}:${line}`, title }));
  } finally {
    rmSync(directory, { recursive: true });
  }
}
