/**
 * The code of the README and docs/ that `test/e2e/docs-blocks.spec.ts` does not run, each with the reason. A reason
 * without code is an error there.
 */

/** Lines of shell blocks. */
export const COMMANDS_NOT_RUN: readonly (readonly [line: RegExp, why: string])[] = [
  [/^npm (i|install|ci|cit)\b/, 'installs packages from a registry'],
  [/^npm run (test:all|demo)/, 'runs in this repository'],
  [/^npx playwright install /, 'downloads a browser'],
  [/^export |^source /, 'sets up a shell'],
  [/^npx poolwright init( +#|$)|init --dry-run$/, 'the project of the test begins with it'],
  [/init --browsers provider/, 'test/unit/cli/init and e2e/commands/init run it'],
  [/^npx poolwright (doctor|account|sessions|pools|profiles|extensions|sweep)\b/, 'needs a service or a key'],
  [/^POOLWRIGHT_(CDP_URL|PROVIDER)=/, 'needs a browser or a provider; e2e/runs/own-browsers and own-provider run it'],
  [/^chromium --headless /, 'starts a browser at a fixed port'],
  [/^POOLWRIGHT_SERVICE=local .*--headed/, 'opens a window'],
  [/^npx poolwright (emulator|serve|watch|relay)\b/, 'runs until it is stopped'],
  [/^npx playwright merge-reports /, 'needs the blobs of several machines; e2e/package/pipelines runs it'],
  [/^npx poolwright exec -- npx /, 'needs the tool, which is not installed here; scripts/tools.mjs runs it'],
  [/^node --require poolwright\/node-test --test/, 'e2e/runners/node-test runs it'],
];

/** Configs, by a text that only they have. */
export const CONFIGS_NOT_RUN: Readonly<Record<string, string>> = {
  'http://build-7:9222': 'needs browsers at its addresses',
  "provider: './browsers.ts'": 'needs that service',
  BROWSERLESS_TOKEN: "needs Browserless; scripts/providers.mjs runs the example's",
  "name: 'shop-user', persist: true": 'logs in at a site',
  'the-printed-id': 'needs an uploaded extension',
};

/** Tests and setups, by a text that only they have. */
export const TESTS_NOT_RUN: Readonly<Record<string, string>> = {
  'await hostedSession.hold(': 'waits for a person; e2e/watch/hold runs one',
  "await page.goto('https://shop.example/login');\n    await page.context()":
    'logs in at a site; e2e/runs/local-browsers leases in a global setup',
  "beforeAll(() => page.goto('https://shop.example'))": 'visits a site; e2e/runners/jest runs such a file',
  'await this.page.goto(': 'visits a server; e2e/runners/mocha runs such a file',
  'await hosted.page();': 'e2e/runners/mocha runs such a file',
  'await hosted.page.goto(': 'visits a server; e2e/runners/node-test runs such a file',
  "from 'poolwright/vitest';\n\ntest('greets'": 'e2e/docs-scripts runs it with Vitest',
};
