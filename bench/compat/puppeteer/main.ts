import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chooseChromium, findChromiums } from 'poolwright/emulator';
import { writePuppeteerPart } from '../page.ts';
import { LEFT_OUT_FILES, prepareSuite } from './checkout.ts';
import { MEANT } from './differences.ts';
import { type Outcome, runMocha, type Way } from './run-mocha.ts';

/** See scripts/compat-puppeteer.mjs. Fails where poolwright does worse than a plain connection, and not by design. */

const HEADS: Record<Way, string> = {
  plain: 'plain `puppeteer.connect`',
  poolwright: 'poolwright',
  ahead: 'poolwright, sent ahead',
};

const [checkout = '', preload = ''] = process.argv.slice(2);
const suite = await prepareSuite(checkout);
const found = await findChromiums();
const { path: chromium } = found.shell ?? chooseChromium(found, null);
const outcomes = { plain: await run('plain'), poolwright: await run('poolwright'), ahead: await run('ahead') };
const { plain, poolwright, ahead } = outcomes;
const failed = new Map([...ahead.failed, ...poolwright.failed]);
const worse = [...failed].filter(([title]) => !plain.failed.has(title));
const better = [...plain.failed].filter(([title]) => !failed.has(title));
const unmeant = worse.filter(([title]) => !(title in MEANT));
const version = createRequire(join(checkout, 'test', 'package.json'))('puppeteer/package.json').version;

await writePuppeteerPart(`
Made with \`node scripts/compat-puppeteer.mjs\`: Puppeteer ${version}'s own tests in ${suite.files.length} files, each as Puppeteer's harness runs it, on
the same Chromium (headless shell). Instead of launching a browser they connect to one: by its address, or through poolwright's
transport with metering, without \`exposeNetwork\`. In the last column browsers are 10 ms away, and poolwright
[hides round trips](../../docs/distance.md). Tests that fail everywhere fail for other reasons: this Chromium is newer than the
one the tests expect, and Puppeteer expects some of them to fail.

| | ${Object.values(HEADS).join(' | ')} |
| --- | --- | --- | --- |
${row('passed', ({ passed }) => passed.size)}
${row('failed', ({ failed }) => failed.size)}
${row('skipped', ({ skipped }) => skipped)}

Failed on the plain connection only: ${better.length}. Through poolwright only: ${worse.length}.

| through poolwright only | poolwright | sent ahead | why |
| --- | --- | --- | --- |
${worse.map(([title]) => `| ${title.replaceAll('|', '\\|')} | ${result(poolwright, title)} | ${result(ahead, title)} | ${MEANT[title] ?? '**not known**'} |`).join('\n')}

Excluded everywhere: what Puppeteer skips in a headless shell; \`Puppeteer.launch\` and \`Puppeteer.executablePath\`; and ${Object.entries(
  LEFT_OUT_FILES,
)
  .map(([file, why]) => `${file} (${why})`)
  .join(', ')}.
`);
for (const [title, error] of unmeant) console.error(`worse than a plain connection: ${title}\n  ${error}`);
process.exitCode = unmeant.length > 0 ? 1 : 0;

async function run(way: Way): Promise<Outcome> {
  console.log(`${HEADS[way]} …`);
  const outcome = await runMocha(way, suite, { checkout, preload, chromium });
  console.log(`${outcome.passed.size} passed, ${outcome.failed.size} failed, ${outcome.skipped} skipped`);
  return outcome;
}

function row(name: string, count: (outcome: Outcome) => number): string {
  return `| ${[name, ...Object.values(outcomes).map(count)].join(' | ')} |`;
}

function result({ failed }: Outcome, title: string): string {
  return failed.has(title) ? 'failed' : 'passed';
}
