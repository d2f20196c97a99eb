/** `poolwright/emulator`: the hosted-browser service on this machine. */
export { EmulatorError, OptionsError, PoolwrightError, type PoolwrightErrorCode } from '../errors.ts';
export { chooseChromium, describeChromiums } from './chromium/choose-chromium.ts';
export { type ChromiumKind, type Chromiums, type FoundChromium, findChromiums } from './chromium/find-chromium.ts';
export type { FaultEffect, FaultMatch, FaultRule } from './fault-rule.ts';
export type { EmulatorOptions } from './options.ts';
export { type Emulator, startEmulator } from './start.ts';
