import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { main } from './playwright.mjs';
import { TOOLS } from './tools/list.mjs';
import { runTool, SESSION } from './tools/run.mjs';

await main(async () => {
  const { startEmulator } = await import('../dist/emulator.js');
  const emulator = await startEmulator();
  const env = { ...process.env, POOLWRIGHT_BASE_URL: emulator.baseURL, POOLWRIGHT_API_KEY: emulator.apiKey };
  writeFileSync('/tmp/session.json', JSON.stringify(SESSION));
  for (const tool of TOOLS.filter(
    ({ name }) =>
      process.argv.length < 3 || process.argv.slice(2).some((each) => name.toLowerCase().includes(each.toLowerCase())),
  )) {
    const since = Date.now();
    const { problems, output } = await runTool(tool, {
      cli: resolve('dist/cli.js'),
      env,
      flags: ['--session', '/tmp/session.json'],
    });
    console.log(tool.name, Date.now() - since, problems, problems.length ? output : output.slice(-500));
  }
  await emulator.stop();
});
