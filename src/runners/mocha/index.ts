/**
 * `poolwright/mocha`. Enable it with `"require": ["poolwright/mocha"]` in .mocharc.json. Tests use `this.page` and the
 * like; in arrow functions they use `hosted` from this module.
 */

export type { HostedSession } from '../../clients/shared/hosted-session.ts';
export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../errors.ts';
export type { HostedOptions } from '../../options/schema/schema.ts';
export type { HostedContext } from './context-types.ts';
export { mochaGlobalSetup, mochaGlobalTeardown } from './global-fixtures.ts';
export { type Hosted, hosted } from './hosted.ts';
export { mochaHooks } from './root-hooks.ts';
