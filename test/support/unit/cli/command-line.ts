import { mkdir } from 'node:fs/promises';
import { test as base } from '@playwright/test';
import { runCommandLine } from '../../../../src/cli/run.ts';
import type { Emulator, EmulatorOptions } from '../../../../src/emulator/index.ts';
import { ServiceClient } from '../../../../src/service/index.ts';
import { runningIds } from '../../session-ids.ts';
import { startStubEmulator } from '../../stub/start.ts';

/** Commands in this process, on an emulator in this process: a command takes milliseconds. */

export interface StubService {
  emulator: Emulator;
  client: ServiceClient;
  /** The variables that a user sets in the shell. */
  env: Record<string, string>;
  /** Returns the IDs of running sessions. */
  running(): Promise<string[]>;
}

interface Fixtures {
  /** An option: what the emulator starts with. */
  emulatorOptions: EmulatorOptions;
  /** An emulator with stub browsers, and a client of it. */
  service: StubService;
  /** An empty directory. */
  directory: string;
}

export const test = base.extend<Fixtures>({
  emulatorOptions: [{}, { option: true }],
  service: async ({ emulatorOptions }, use) => {
    const emulator = await startStubEmulator(emulatorOptions);
    const client = new ServiceClient({ baseURL: emulator.baseURL, apiKey: emulator.apiKey });
    const env = { POOLWRIGHT_BASE_URL: emulator.baseURL, POOLWRIGHT_API_KEY: emulator.apiKey };
    await use({ emulator, client, env, running: () => runningIds(client) });
    await client.close();
    await emulator.stop();
  },
  directory: async ({}, use, testInfo) => {
    const directory = testInfo.outputPath('directory');
    await mkdir(directory, { recursive: true });
    await use(directory);
  },
});

export { expect } from '@playwright/test';

/**
 * Runs `poolwright` with these arguments, as a process without a terminal would.
 * @param env added to the environment
 * @param directory its working directory; default: this one
 */
export async function poolwright(args: readonly string[], env: Record<string, string> = {}, directory = process.cwd()) {
  const before = { env: { ...process.env }, directory: process.cwd(), exitCode: process.exitCode };
  const output = { stdout: '', stderr: '' };
  const release = (['stdout', 'stderr'] as const).map((name) =>
    capture(process[name], (text) => {
      output[name] += text;
    }),
  );
  Object.assign(process.env, env);
  // Playwright's workers force colours.
  delete process.env.FORCE_COLOR;
  process.chdir(directory);
  process.exitCode = undefined;
  try {
    await runCommandLine(args, '0.0.0');
    return { ...output, code: Number(process.exitCode) };
  } finally {
    for (const end of release) end();
    for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name];
    Object.assign(process.env, before.env);
    process.chdir(before.directory);
    process.exitCode = before.exitCode;
  }
}

/** Redirects what is written to a stream, which is not a terminal meanwhile; returns a function that ends it. */
function capture(stream: NodeJS.WriteStream, onText: (text: string) => void): () => void {
  const { write, isTTY } = stream;
  stream.isTTY = false;
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    onText(String(chunk));
    const written = rest.at(-1);
    if (typeof written === 'function') written();
    return true;
  };
  return () => Object.assign(stream, { write, isTTY });
}
