/**
 * `poolwright/mocha`: `"require": ["poolwright/mocha"]` in .mocharc.json turns it on. Tests have `this.page` and the like,
 * or, where they are arrow functions, `hosted` from here.
 */
export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../../errors.ts';
export type { HostedOptions } from '../../../options/schema/schema.ts';
export type { HostedSession } from '../../../worker/hosted-session.ts';
export type { HostedContext } from './context-types.ts';
export { mochaGlobalSetup, mochaGlobalTeardown } from './global-fixtures.ts';
export { type Hosted, hosted } from './hosted.ts';
export { mochaHooks } from './root-hooks.ts';
