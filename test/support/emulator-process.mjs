/**
 * An emulator in a separate process, for suites that test it from outside:
 *   node test/support/emulator-process.mjs '{"concurrentBrowsers":200}' [FILE]
 * FILE: a module that exports `startEmulator`; default: the built package, which needs `dist`. Prints one line of JSON
 * (`baseURL`, `apiKey`, `pid`) and serves until its stdin ends, or SIGTERM.
 */
import { once } from 'node:events';

const { startEmulator } = await import(process.argv[3] ?? 'poolwright/emulator');
const emulator = await startEmulator(JSON.parse(process.argv[2] ?? '{}'));
process.on('SIGINT', () => undefined); // the suite handles Ctrl-C
process.stdout.write(`${JSON.stringify({ baseURL: emulator.baseURL, apiKey: emulator.apiKey, pid: process.pid })}\n`);
process.stdin.resume();
await Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close'), once(process, 'SIGTERM')]);
await emulator.stop();
process.exit();
