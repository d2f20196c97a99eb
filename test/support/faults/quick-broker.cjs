/**
 * Preloaded into every Node process of a run: its broker's bounds pass four times as fast. Timers from a second on are
 * shortened; shorter ones, those of workers and runner, and the clock stay as they are.
 */
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

// The broker gets no NODE_OPTIONS of the run's.
const { spawn } = childProcess;
const { NODE_OPTIONS } = process.env;
childProcess.spawn = (file, args, options, ...rest) => {
  const isBroker = Array.isArray(args) && args.some((each) => basename(each) === BROKER);
  if (!isBroker) return spawn(file, args, options, ...rest);
  return spawn(file, args, { ...options, env: { ...options.env, NODE_OPTIONS } }, ...rest);
};
syncBuiltinESMExports();
