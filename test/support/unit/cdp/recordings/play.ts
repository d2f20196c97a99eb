import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base } from '@playwright/test';
import type { Protocol } from 'devtools-protocol';
import { Meter } from '../../../../../src/cdp/figures.ts';
import { type CdpMessage, fieldsOf } from '../../../../../src/cdp/message.ts';
import { InterceptorList } from '../../../../../src/cdp/transport/interceptor-list.ts';
import { interceptors } from '../interceptors.ts';
import { type Entry, type Names, parseRecording, played, written } from './recording.ts';
import { writeUpload } from './scenarios.ts';
import { Site } from './site.ts';

/** Tests that replay recordings. */
export const test = base.extend<{ names: Names }>({
  names: async ({}, use) => {
    const site = new Site();
    const directory = await mkdtemp(join(tmpdir(), 'poolwright-played-'));
    await writeUpload(directory);
    await use({ site: await site.listen(), directory });
    await site.close();
    await rm(directory, { recursive: true });
  },
});

export async function recordingOf(name: string): Promise<Entry[]> {
  return parseRecording(await readFile(new URL(`${name}.jsonl`, import.meta.url), 'utf8'));
}

/** Time limit for a recorded message, in ms. */
const OUTPUT_MS = 10_000;

type Output = Extract<Entry, ['to browser' | 'to client', unknown]>;

/** Replays a recording. Resolves with the output up to the first difference. */
export async function play(name: string, entries: Entry[], names: Names, meter = new Meter()) {
  const create = interceptors(names.site, meter)[name];
  if (!create) throw new Error(`there is no interceptor ${name}`);
  const [came, recorded]: [Output[], Output[]] = [[], []];
  let last: CdpMessage | undefined;
  const output = (where: Output[0]) => (message: CdpMessage) => {
    came.push([where, message === last ? null : written(message, names)]);
    const { worldName } = fieldsOf<Protocol.Page.CreateIsolatedWorldRequest>(message.params);
    if (message !== last && typeof worldName === 'string') names.world = worldName;
  };
  const list = new InterceptorList([create], { toBrowser: output('to browser'), toClient: output('to client') });
  for (const entry of entries) {
    const [where, what] = entry;
    if (where === 'site sent') continue;
    if (where === 'to browser' || where === 'to client') {
      recorded.push(entry as Output);
      // Interceptors that use files or make requests take time.
      const late = Date.now() + OUTPUT_MS;
      while (came.length < recorded.length && Date.now() < late) await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    last = played(what as CdpMessage, names);
    if (where === 'client') list.command(last);
    else list.message(last);
  }
  list.end();
  return { came, recorded };
}
