import { OptionsError } from '../../errors.ts';
import type { HostedContext } from './context-types.ts';
import type { MochaProcess } from './mocha-process.ts';

/** The properties that tests have on `this`. */
export const HOSTED_NAMES = ['browser', 'context', 'page', 'hostedSession'] as const;

/** @throws PoolwrightError when it is not available: why no browser is available, or what to write instead */
export function hostedValue(process: MochaProcess, name: (typeof HOSTED_NAMES)[number]): HostedContext[typeof name] {
  const ready = process.readyValues();
  if (!ready) {
    const instead = name === 'hostedSession' ? 'session' : name;
    throw new OptionsError(
      `this.${name}`,
      `this.${name} is available only in tests, \`beforeEach\` and \`afterEach\` of a file that contains \`this.page\` or the like. Elsewhere, \`import { hosted } from 'poolwright/mocha'\` and call \`await hosted.${instead}()\`.`,
    );
  }
  const { browser, context, session, page } = ready;
  return { browser, context, page, hostedSession: session }[name];
}
