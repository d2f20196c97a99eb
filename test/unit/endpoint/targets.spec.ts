import { expect, test } from '@playwright/test';
import type { BrowserClients } from '../../../src/endpoint/browser-clients.ts';
import { startPage } from '../../../src/endpoint/targets.ts';

/** Returns the commands with which a browser's page shows an address at first. */
async function commandsFor(url: string): Promise<string[]> {
  const methods: string[] = [];
  const call = async (method: string) => {
    methods.push(method);
    return method === 'Target.getTargets' ? { targetInfos: [{ targetId: 'T', type: 'page' }] } : { sessionId: 'S' };
  };
  await startPage({ call } as unknown as BrowserClients, url);
  return methods;
}

test('a page from a server stays attached, so that its requests are proxied without a tool', async () => {
  const commands = ['Target.getTargets', 'Target.attachToTarget', 'Page.navigate'];
  expect(await commandsFor('http://localhost:9876/')).toEqual(commands);
  expect(await commandsFor('file:///tmp/a.html')).toEqual(commands);
  // Before a tool attaches to it: its session is to be the first one.
  expect(await commandsFor('data:,')).toEqual([...commands, 'Target.detachFromTarget']);
  expect(await commandsFor('about:blank')).toEqual(['Target.getTargets']);
});
