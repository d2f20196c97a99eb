import { join } from 'node:path';
import { ensureChromeDriver } from '../../../scripts/chromium.mjs';
import { TOOLS } from '../../../scripts/tools/list.mjs';
import { runTool } from '../../../scripts/tools/run.mjs';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { userEnvironment } from '../../support/e2e/run-command.ts';
import { slowIf } from '../../support/property-runs.ts';

/** The most used tools, from the registry: one each time. `node scripts/tools.mjs` runs all. */

test.use({ browsers: 'shell', serviceOptions: { allowLoopback: false } });

for (const name of ['Lighthouse', 'Selenium, ChromeDriver', 'Karma']) {
  test(
    `${name} runs on a hosted browser, and visits a local site`,
    slowIf(!name.startsWith('Selenium')),
    async ({ newConsumer, service }) => {
      const tool = TOOLS.find((each) => each.name === name);
      if (!tool) throw new Error(`${name} is not in the list`);
      if (name.includes('ChromeDriver')) await ensureChromeDriver();
      const { directory } = await newConsumer('latest', 'module');
      const { problems, output } = await runTool(tool, {
        cli: join(directory, 'node_modules/poolwright/dist/cli.js'),
        env: userEnvironment(service.env),
        flags: ['--session', 'session.json'],
      });
      expect(problems, output).toEqual([]);
      expect(await service.running()).toEqual([]);
    },
  );
}
