import { readFile, writeFile } from 'node:fs/promises';
import { readCheckedRuns } from '../../support/unit/advise/checked-runs.ts';
import { expect, poolwright, test } from '../../support/unit/cli/command-line.ts';

/** The part of `poolwright report advise` that needs the build: the timeline's page. */

test('report advise › --output writes the timeline with the advice', async () => {
  const directory = test.info().outputDir;
  const run = readCheckedRuns().find(({ workers, shards }) => workers === 4 && shards === 1);
  await writeFile(test.info().outputPath('run.json'), JSON.stringify(run?.records[0]));
  const { code, stdout } = await poolwright(['report', 'advise', 'run.json', '--output', 'out'], {}, directory);
  expect(code).toBe(0);
  expect(stdout).toContain('timeline  out/timeline.html');
  const page = await readFile(`${directory}/out/timeline.html`, 'utf8');
  const data = JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? '');
  expect(data.sections.advice.choices.length).toBeGreaterThan(2);
  expect(data.tests).toHaveLength(29);
});
