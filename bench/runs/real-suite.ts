/** A Playwright Test suite that is run for real, on every side. */
export interface RealSuite {
  name: string;
  title: string;
  about: string;
  rounds: number;
  /** Null: the config does not say. */
  workers: number | null;
  /** How much longer each browser of the emulator takes to start, in ms. */
  startDelay: number;
  /**
   * To the browsers of the emulator and back, in ms; none unless given. With it, only browsers at that distance are
   * compared.
   */
  rtt?: number;
  /** Test files by their path in `tests/`; they import `@playwright/test`. */
  files: Record<string, string>;
  /** More keys of the config's `use`, as source text. */
  use?: string;
  /** More keys of the config, as source text. */
  config?: string;
  /**
   * Where the pages are: at an address that every browser reaches by itself, on loopback (where poolwright's bridge
   * carries them), or the suite's own server, on loopback too.
   */
  site: 'outside' | 'loopback' | 'own';
  /** How many of its tests pass and how many fail, on every side. */
  passes: number;
  fails: number;
  /** Names of the sides; all that make sense unless given. */
  sides?: readonly string[];
  /**
   * The least that poolwright shall do: its time on some sides, on sessions and pools unless given, over that of
   * another.
   */
  goal?: RunGoal | readonly RunGoal[];
}

interface RunGoal {
  sides?: readonly string[];
  over: string;
  atMost: number;
}

/** A test file of so many small tests; `isBad` says which of them fail. */
export function smallTests(count: number, isBad: (index: number) => boolean = () => false): string {
  const tests = Array.from({ length: count }, (_, index) => {
    const wanted = isBad(index) ? 'Goodbye' : 'Hello';
    return `
test('small test ${index + 1}', async ({ page }) => {
  await page.goto('/');
  expect(await page.locator('h1').textContent()).toBe('${wanted}');
});`;
  });
  return `import { expect, test } from '@playwright/test';\n${tests.join('\n')}\n`;
}

/** A test file of so many tests that wait so long, in ms. */
export function waitingTests(count: number, ms: number): string {
  const tests = Array.from(
    { length: count },
    (_, index) => `
test('waiting test ${index + 1}', async ({ page }) => {
  await page.goto('/');
  await page.waitForTimeout(${ms});
});`,
  );
  return `import { test } from '@playwright/test';\n${tests.join('\n')}\n`;
}
