/**
 * `poolwright/node-test`: `node --require poolwright/node-test --test` turns it on, `hostedBrowser()` brings a hosted
 * browser into the tests of a file or a suite.
 */
import { startInRunner } from './runner-process.ts';

export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../../errors.ts';
export type { HostedOptions } from '../../../options/schema/schema.ts';
export type { HostedSession } from '../../../worker/hosted-session.ts';
export { type HostedBrowser, hostedBrowser } from './hosted-browser.ts';
export type { HostedTest } from './hosted-test.ts';

// Loaded before all else (`--require`), this is the one place of ours in the runner's own process.
startInRunner();
