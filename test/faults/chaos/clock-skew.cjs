/**
 * Preloaded into every Node process of a run: from the time CHAOS_CLOCK_FROM on (ms since 1970, by the true clock), its
 * clock is wrong by CHAOS_CLOCK_SHIFT ms. Timers are not affected, as when a machine's clock is wrong or set.
 */
require('../../support/e2e/compile-cache.cjs'); // this file takes its place in NODE_OPTIONS
const childProcess = require('node:child_process');
const { syncBuiltinESMExports } = require('node:module');

const shift = Number(process.env.CHAOS_CLOCK_SHIFT);
const from = Number(process.env.CHAOS_CLOCK_FROM);
const TrueDate = Date;

function now() {
  const truly = TrueDate.now();
  return truly < from ? truly : truly + shift;
}

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length > 0 ? args : [now()], newTarget),
  apply: () => new TrueDate(now()).toString(),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});
TrueDate.prototype.constructor = globalThis.Date;

// The broker does not inherit the run's NODE_OPTIONS, but it runs on the same clock.
const { spawn } = childProcess;
const { NODE_OPTIONS } = process.env;
childProcess.spawn = (file, args, options, ...rest) => {
  if (!options?.env) return spawn(file, args, options, ...rest);
  return spawn(file, args, { ...options, env: { ...options.env, NODE_OPTIONS } }, ...rest);
};
syncBuiltinESMExports();
