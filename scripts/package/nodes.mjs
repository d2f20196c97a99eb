import { join } from 'node:path';
import { ensureBuilt } from '../build.mjs';
import { nodeBinary } from '../installed.mjs';
import { main, playwrightTest } from '../playwright.mjs';

/**
 * `node scripts/package/nodes.mjs` (`22`: on that one only): the packed tarball, installed and loaded, on every line of
 * Node that is supported. Not part of the tests: it installs the Nodes below node_modules/.cache.
 */
const NODES = ['20', '22', '24'];

await main(async () => {
  await ensureBuilt();
  const asked = process.argv.slice(2);
  let failed = 0;
  for (const version of asked.length > 0 ? asked : NODES) {
    console.log(`\nNode ${version}`);
    const spec = join('test', 'e2e', 'package', 'consumer');
    // What TypeScript finds does not depend on the Node that runs it.
    const args = ['--project=e2e', '--reporter=line', '--workers=1', '--grep-invert=TypeScript', spec];
    if ((await playwrightTest(args, { TEST_NODE: nodeBinary(version) })) !== 0) failed++;
  }
  return failed === 0 ? 0 : 1;
});
