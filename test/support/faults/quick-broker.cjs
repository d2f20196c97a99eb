/**
 * Preloaded into every Node process of a run: its broker's deadlines pass four times as fast. Timers of a second and
 * more are shortened; shorter ones, those of workers and runner, and the clock are unchanged.
 */
require('../e2e/compile-cache.cjs'); // this file takes its place in NODE_OPTIONS
const childProcess = require('node:child_process');
const { basename } = require('node:path');
const { syncBuiltinESMExports } = require('node:module');

const FACTOR = 4;
const LONG_MS = 1_000;
const BROKER = 'broker-main.js';

if (basename(process.argv[1] ?? '') === BROKER) {
  const { setTimeout: start } = globalThis;
  globalThis.setTimeout = (back, ms, ...args) => start(back, ms >= LONG_MS ? ms / FACTOR : ms, ...args);
}

// The broker does not inherit the run's NODE_OPTIONS.
const { spawn } = childProcess;
const { NODE_OPTIONS } = process.env;
childProcess.spawn = (file, args, options, ...rest) => {
  const isBroker = Array.isArray(args) && args.some((each) => basename(each) === BROKER);
  if (!isBroker) return spawn(file, args, options, ...rest);
  return spawn(file, args, { ...options, env: { ...options.env, NODE_OPTIONS } }, ...rest);
};
syncBuiltinESMExports();
