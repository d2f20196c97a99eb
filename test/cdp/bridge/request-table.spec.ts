import { readFileSync } from 'node:fs';
import type { BrowserContext } from '@playwright/test';
import { chromium } from 'playwright-core';
import { openTransport, type TransportOptions } from '../../../src/cdp/open-transport.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { startFarChromium } from '../../support/cdp/far-chromium.ts';
import { test as base, expect } from '../../support/cdp/fixtures.ts';
import { KINDS, TREATMENTS, type Treatment } from '../../support/cdp/request-kinds.ts';
import { differences, type Observation, observe, TableServer } from '../../support/cdp/request-table.ts';

interface Way {
  server: TableServer;
  newContext: () => Promise<BrowserContext>;
}

const WAYS: Readonly<Record<string, TransportOptions>> = {
  local: {},
  listed: { bridge: parseNetworkRules('localhost') },
  auto: { byIntent: { onPlace: () => undefined } },
};

const test = base.extend<object, { ways: Record<string, Way> }>({
  ways: [
    async ({}, use) => {
      const started = await Promise.all(
        Object.entries(WAYS).map(async ([name, options]) => {
          const server = await TableServer.start();
          const isBridged = name !== 'local';
          const far = await startFarChromium(isBridged ? ['localhost', '127.0.0.1'] : []);
          const browser = await chromium.connectOverCDP(await openTransport(far.cdpUrl, options));
          const end = async () => {
            await browser.close();
            await far.close();
            await server.stop();
          };
          return { name, way: { server, newContext: () => browser.newContext() }, end };
        }),
      );
      await use(Object.fromEntries(started.map(({ name, way }) => [name, way])));
      for (const { end } of started) await end();
    },
    { scope: 'worker' },
  ],
});

/** Where a carried request differs from one of a local browser's. */
interface Difference {
  /** Its row in docs/network.md. */
  row: string;
  /** Every kind unless given; then `fetch` shows that it is still there. */
  kinds?: readonly string[];
  /** Every treatment unless given. */
  treatments?: readonly Treatment[];
  /** Both ways unless given. */
  way?: 'auto' | 'listed';
  /** Of what differs, see {@link differences}. */
  paths: RegExp;
}

const DIFFERENCES: readonly Difference[] = [
  { row: '`Sec-Fetch-*` headers', paths: /headers\.sec-fetch-\w+$/ },
  { row: '`accept-encoding`', paths: /headers\.accept-encoding$/ },
  { row: '`request.sizes()`', paths: /sizes\.requestHeadersSize$/ },
  { row: 'the script of a worker or a service worker', kinds: ['worker'], paths: /sizes\.responseBodySize$/ },
  {
    row: 'the script of a worker or a service worker',
    kinds: ['service worker'],
    paths:
      /requests\.GET \/\w+\/service worker\.(headers\.|response\.(headers\.set-cookie|sizes))|server\.\d\.headers\.(cache-control|pragma)/,
  },
  {
    row: 'the script of a worker inside a worker',
    kinds: ['nested worker'],
    paths:
      /^page$|^server\.\d$|^playwright\.(others\.\d|requests\.(GET \/(asked|redirected|final)\/nested worker|POST \/inner)\b.*)$/,
  },
  {
    row: 'a font behind a redirect',
    kinds: ['font'],
    treatments: ['redirected'],
    paths:
      /^server\.(1\.(headers\.cookie|request)|2)$|^playwright\.requests\.GET \/(redirected|final)\/font\.(headers\.cookie|response\.(headers|sizes)\.)/,
  },
  {
    row: 'a prefetch (`<link rel=prefetch>`) while the test has routes',
    kinds: ['prefetch'],
    treatments: ['mocked', 'continued', 'redirected by the test'],
    paths: /^server\.0(\.request|\.headers\.x-continued)?$|^playwright\.requests\.GET \/(asked|final)\/prefetch$/,
  },
  { row: "a WebSocket's handshake", kinds: ['WebSocket'], paths: /accept-language$|^playwright\.others/ },
];

/** What the browser itself does now so, now so: a source that is closed as its stream ends. */
const BY_CHANCE = /^EventSource mocked playwright\.requests\.GET \/asked\/EventSource\.(events|failure|response)/;

for (const kind of Object.keys(KINDS)) {
  test(`${kind}: as on a local browser, but for what is documented`, async ({ ways }) => {
    const used = new Set<Difference>();
    for (const treatment of TREATMENTS) {
      const seen: Record<string, Observation> = {};
      const each = Object.entries(ways).map(async ([name, { server, newContext }]) => {
        seen[name] = await observe(newContext, server, kind, treatment);
      });
      await Promise.all(each);
      for (const way of ['auto', 'listed']) {
        const unexpected = differences(seen.local, seen[way]).filter(([path]) => {
          const known = DIFFERENCES.find(
            (one) =>
              (one.kinds ?? [kind]).includes(kind) &&
              (one.treatments ?? [treatment]).includes(treatment) &&
              (one.way ?? way) === way &&
              one.paths.test(path),
          );
          if (known) used.add(known);
          return !known && !BY_CHANCE.test(`${kind} ${treatment} ${path}`);
        });
        expect.soft(unexpected, `${way}, ${treatment}`).toEqual([]);
      }
    }
    const documented = DIFFERENCES.filter(({ kinds }) => (kinds ?? ['fetch']).includes(kind));
    expect(documented.filter((one) => !used.has(one))).toEqual([]);
  });
}

test('each difference has its row in docs/network.md', () => {
  const table = readFileSync('docs/network.md', 'utf8');
  for (const { row } of DIFFERENCES) expect(table).toContain(`| ${row} |`);
});
