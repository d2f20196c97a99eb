import { Agent } from 'undici';
import { ENDPOINTS, ServiceClient } from '../../../src/service/index.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { probeExtension } from '../../support/zip.ts';

/** `scripts/contract.mjs` compares `ENDPOINTS` with the service, so the list must match the calls of the client. */
test('the list of endpoints has exactly the methods of the client', async ({ start }) => {
  const emulator = await start({ browser: 'stub' });
  const used = new Set<string>();
  const agent = new Agent();
  const dispatcher = agent.compose((dispatch) => (options, handler) => {
    const path = options.path
      .replace(/\?.*/, '')
      .replace(/(?<=\/pools\/)[^/]+/, '{poolId}')
      .replace(/(?<=\/extensions\/)[^/]+/, '{extensionId}');
    used.add(`${options.method} ${path}`);
    return dispatch(options, handler);
  });
  const { baseURL, apiKey } = emulator;
  const client = new ServiceClient({ baseURL, apiKey, dispatcher });
  try {
    const { sessionId } = await client.createSession({ duration: 60 });
    await client.getSession(sessionId);
    await client.updateSession(sessionId, { note: 'n' });
    await client.listSessions({ status: 'active' });
    await client.stopSession(sessionId);
    const { id } = await client.createPool({ name: 'p', size: 1 });
    await client.getPool(id);
    await client.listPools();
    await client.updatePool(id, { maxReadyAgeSeconds: 60 });
    const { leaseId } = await client.acquire(id, { waitMs: 30_000 });
    await client.release(id, leaseId);
    await client.flushPool(id);
    await client.deletePool(id, { force: true });
    await client.listProfiles();
    await client.deleteProfile('nobody');
    const zip = await probeExtension();
    const { extensionId } = await client.uploadExtension(zip);
    await client.getExtension(extensionId);
    await client.listExtensions();
    await client.replaceExtension(extensionId, zip);
    await client.deleteExtension(extensionId);
    await client.listDedicatedIps();
    await client.getBalance();
    await client.getBilling();
  } finally {
    await client.close();
    await agent.close();
  }
  expect([...used].sort()).toEqual(ENDPOINTS.map(({ method, path }) => `${method} ${path}`).sort());
});
