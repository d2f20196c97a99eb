/**
 * `poolwright/node-test`. Enable it with `node --require poolwright/node-test --test`. `hostedBrowser()` gives the
 * tests of a file or suite a hosted browser.
 */
import { startInRunner } from './runner-process.ts';

export type { HostedSession } from '../../clients/shared/hosted-session.ts';
export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../errors.ts';
export type { HostedOptions } from '../../options/schema/schema.ts';
export { type HostedBrowser, hostedBrowser } from './hosted-browser.ts';
export type { HostedTest } from './hosted-test.ts';

// Loaded first (`--require`), this is our only code that runs in the runner's own process.
startInRunner();
