import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RealSuite } from './real-suite.ts';

const DIRECTORY = 'examples/basic/tests';
/** A plain `connectOverCDP` looks for a remote browser's downloads on its own disk. */
const WITH_DOWNLOADS = /downloads the price list|saves the list as a file/;

/** The tests of examples/basic with their web server. @param traced whether traces are recorded, as in the example */
export function exampleSuite(traced = true): RealSuite {
  const names = readdirSync(DIRECTORY).filter((name) => name.endsWith('.spec.ts'));
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(DIRECTORY, name), 'utf8')]));
  const titles = Object.values(files).flatMap((source) =>
    [...source.matchAll(/^test\('([^']+)'/gm)].map(([, title = '']) => title),
  );
  return {
    name: traced ? 'example' : 'example-untraced',
    title: traced ? 'The example' : 'The example without traces',
    about: `[examples/basic](../../examples/basic) with its web server on loopback, two workers, ${traced ? 'traces and ' : ''}screenshots of failures, and the HTML report; without its two tests of downloads, which a plain \`connectOverCDP\` cannot do. Sessions and pools reach the site through the proxy.`,
    rounds: 9,
    workers: 2,
    startDelay: 0,
    files,
    use: `${traced ? "trace: 'retain-on-failure', " : ''}screenshot: 'only-on-failure',`,
    config: `fullyParallel: true,
  grepInvert: ${WITH_DOWNLOADS},
  webServer: {
    command: 'node ' + JSON.stringify(${JSON.stringify(resolve('examples/site/server.mjs'))}) + ' --port ' + process.env.BENCH_SITE_PORT,
    port: Number(process.env.BENCH_SITE_PORT),
    reuseExistingServer: false,
  },`,
    site: 'own',
    passes: titles.filter((title) => !WITH_DOWNLOADS.test(title)).length,
    fails: 0,
    goal: [
      { over: 'unbridged', atMost: 1.15 },
      { over: 'local', atMost: 1.15 },
    ],
  };
}
