import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@playwright/test';
import { FilmedPages } from '../../../../src/cdp/screencast/filmed-pages.ts';
import { Screencast } from '../../../../src/cdp/screencast/screencast.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import type { CdpMessage } from '../../../../src/cdp/transport/message.ts';
import { parseRecording } from '../../../support/unit/cdp/recordings/recording.ts';

/** What a real Playwright and a real browser have exchanged, with nobody who receives pictures. */

const RECORDINGS = new URL('../../../support/unit/cdp/recordings/', import.meta.url);

for (const how of ['never started', 'started and stopped before']) {
  test(`passes every message on unchanged, and sends nothing (${how})`, async () => {
    const names = (await readdir(RECORDINGS)).filter((name) => name.endsWith('.jsonl'));
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) {
      const screencast = new Screencast();
      const sent: CdpMessage[] = [];
      const received: CdpMessage[] = [];
      const list = new InterceptorList([(link) => new FilmedPages(link, screencast)], {
        toBrowser: (command) => sent.push(command),
        toClient: (message) => received.push(message),
      });
      if (how !== 'never started') {
        const options = { maxWidth: 100, maxHeight: 100, quality: 50, perSecond: 2 };
        screencast.start({ options, onPicture: async () => undefined })();
      }
      const entries = parseRecording(await readFile(new URL(name, RECORDINGS), 'utf8'));
      const from = (side: 'browser' | 'client') =>
        entries.flatMap(([where, what]) => (where === side ? [what as CdpMessage] : []));
      for (const [where, what] of entries) {
        if (where === 'client') list.command(what as CdpMessage);
        if (where === 'browser') list.message(what as CdpMessage);
      }
      expect(sent, name).toEqual(from('client'));
      expect(screencast.bytes()).toBe(0);
      list.end();
      // Responses to commands that another interceptor has sent in the recording reach no client.
      const ids = new Set(sent.map(({ id }) => id));
      expect(received, name).toEqual(from('browser').filter(({ id }) => id === undefined || ids.has(id)));
    }
  });
}
