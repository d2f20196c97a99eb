/** `poolwright/emulator`: the hosted-browser service on this machine. */
export { EmulatorError, OptionsError, PoolwrightError, type PoolwrightErrorCode } from '../errors.ts';
export type { FaultEffect, FaultMatch, FaultRule } from './faults/fault-rule.ts';
export { type FoundChromium, findChromium } from './find-chromium.ts';
export type { EmulatorOptions } from './options.ts';
export { type Emulator, startEmulator } from './start.ts';
