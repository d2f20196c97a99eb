import type { FullConfig, Reporter, Suite } from '@playwright/test/reporter';
import { FIRST_GEAR, gearOf, patternsOf, SECOND_GEAR } from '../gears.ts';

/** Fails a run of a whole gear in which a line of test/gears.ts selects no test: its name has changed. */
export default class GearReporter implements Reporter {
  readonly #unmatched: string[] = [];

  onBegin(_config: FullConfig, suite: Suite): void {
    // `playwright test` without files, projects or other filters
    if (process.argv.length > 3) return;
    const listed = { first: FIRST_GEAR, rest: SECOND_GEAR, all: { ...FIRST_GEAR, ...SECOND_GEAR } }[
      gearOf(process.env.POOLWRIGHT_GEAR)
    ];
    for (const [name, list] of Object.entries(listed)) {
      const tests = suite.suites.find(({ title }) => title === name)?.allTests() ?? [];
      const titles = tests.map((each) => each.titlePath().filter(Boolean).join(' '));
      for (const { source, pattern } of patternsOf(`test/${name}`, list)) {
        if (!titles.some((title) => pattern.test(title))) this.#unmatched.push(`${name}: ${source}`);
      }
    }
  }

  async onEnd(): Promise<{ status: 'failed' } | undefined> {
    if (this.#unmatched.length === 0) return undefined;
    console.error(`test/gears.ts selects no test with: ${this.#unmatched.join('; ')}`);
    return { status: 'failed' };
  }

  printsToStdio(): boolean {
    return false;
  }
}
