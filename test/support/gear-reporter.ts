import type { FullConfig, Reporter, Suite } from '@playwright/test/reporter';
import { FIRST_GEAR, selected } from '../gears.ts';

/** Fails a run of the whole first gear in which a line of test/gears.ts selects no test: its name has changed. */
export default class GearReporter implements Reporter {
  readonly #unmatched: string[] = [];

  onBegin(config: FullConfig, suite: Suite): void {
    // `playwright test` without files, projects or other filters
    if (process.env.POOLWRIGHT_GEAR !== 'first' || process.argv.length > 3) return;
    for (const name of Object.keys(FIRST_GEAR)) {
      const project = config.projects.find((each) => each.name === name);
      const titles =
        suite.suites
          .find((each) => each.title === name)
          ?.allTests()
          .map((each) => each.titlePath()) ?? [];
      if (titles.length === 0) this.#unmatched.push(`project ${name}`);
      if (!project) continue;
      const joined = titles.map((path) => path.filter((part) => part !== '').join(' '));
      for (const { source, pattern } of selected({ name, testDir: `test/${name}` })) {
        if (!joined.some((title) => pattern.test(title))) this.#unmatched.push(`${name}: ${source}`);
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
