import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { ServiceClient } from 'poolwright/client';
import { startEmulator } from 'poolwright/emulator';
import { ZipFile } from 'yazl';

/** Uploads the extension as it is now, runs the tests on browsers that have it, and deletes it. */

const directory = new URL('extension/', import.meta.url);

async function zip() {
  const file = new ZipFile();
  for (const name of await readdir(directory)) file.addBuffer(await readFile(new URL(name, directory)), name);
  file.end();
  return buffer(file.outputStream);
}

// Ctrl-C ends the tests; what was uploaded is still deleted.
process.on('SIGINT', () => {});

// Your variables name the service; without them, the emulator takes its place.
const emulator = process.env.POOLWRIGHT_API_KEY ? null : await startEmulator();
const baseURL = emulator?.baseURL ?? process.env.POOLWRIGHT_BASE_URL;
const apiKey = emulator?.apiKey ?? process.env.POOLWRIGHT_API_KEY;
const client = new ServiceClient({ baseURL, apiKey });
try {
  const { extensionId, crxExtensionId } = await client.uploadExtension(await zip());
  try {
    const tests = spawn('playwright', ['test', ...process.argv.slice(2)], {
      stdio: 'inherit',
      shell: process.platform === 'win32',
      env: {
        ...process.env,
        POOLWRIGHT_BASE_URL: baseURL,
        POOLWRIGHT_API_KEY: apiKey,
        EXTENSION_ID: extensionId,
        EXTENSION_ORIGIN: `chrome-extension://${crxExtensionId}`,
      },
    });
    const [code] = await once(tests, 'exit');
    process.exitCode = code ?? 1;
  } finally {
    await client.deleteExtension(extensionId);
  }
} finally {
  await client.close();
  await emulator?.stop();
}
