/** `poolwright/puppeteer`: hosted browsers for Puppeteer, under any test runner or none. */
export { EmulatorError, LeaseError, OptionsError, PoolwrightError, ServiceError } from '../../errors.ts';
export type { HostedOptions } from '../../options/schema/schema.ts';
export type { HostedSession } from '../shared/hosted-session.ts';
export { type LeasedBrowser, type LeaseOptions, leaseBrowser } from './lease-browser.ts';
