import { print } from './text/notify.ts';

/** Whether `DEBUG` asks for this name, written like `DEBUG=pw:*`. */
export function debugEnabled(name: string, debug: string | undefined): boolean {
  return (debug ?? '').split(/[\s,]+/).some((pattern) => {
    if (pattern === '') return false;
    return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  });
}

/** When the run's first process started, in ms since the epoch: inherited by every process of the run. */
const ORIGIN_VARIABLE = 'POOLWRIGHT_TIME_ORIGIN';

const { timeOrigin } = performance;
const isOn = debugEnabled('poolwright:time', process.env.DEBUG);
if (isOn) process.env[ORIGIN_VARIABLE] ??= String(timeOrigin);

/**
 * Says on standard error, under `DEBUG=poolwright:time`, that a step of the run is done: how many ms after the start of
 * the run, and of this process.
 * @param who the process: `runner`, `broker`, `emulator`, `worker`
 */
export function traceTime(who: string, step: string): void {
  if (!isOn) return;
  const ofProcess = performance.now();
  const ofRun = timeOrigin + ofProcess - Number(process.env[ORIGIN_VARIABLE] ?? timeOrigin);
  void print(`poolwright:time ${ms(ofRun)} (${ms(ofProcess)}) ${who}: ${step}`);
}

function ms(value: number): string {
  return `${Math.round(value)} ms`.padStart(8);
}
