import { OptionsError } from '../../../errors.ts';
import type { HostedContext } from './context-types.ts';
import type { MochaProcess } from './mocha-process.ts';

/** What tests have as `this`. */
export const HOSTED_NAMES = ['browser', 'context', 'page', 'hostedSession'] as const;

/** @throws PoolwrightError when there is none: why no browser came, or what to write instead */
export function hostedValue(process: MochaProcess, name: (typeof HOSTED_NAMES)[number]): HostedContext[typeof name] {
  const ready = process.ready();
  if (!ready) {
    const instead = name === 'hostedSession' ? 'session' : name;
    throw new OptionsError(
      `this.${name}`,
      `this.${name} is there in tests, \`beforeEach\` and \`afterEach\` of a file that says \`this.page\` or the like. Elsewhere, \`import { hosted } from 'poolwright/mocha'\` and \`await hosted.${instead}()\`.`,
    );
  }
  const { browser, context, session, page } = ready;
  return { browser, context, page, hostedSession: session }[name];
}
