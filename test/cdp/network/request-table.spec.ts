import { readFileSync } from 'node:fs';
import { type BrowserContext, chromium, type Page } from '@playwright/test';
import { openTransport, type TransportOptions } from '../../../src/cdp/pipeline.ts';
import { parseNetworkRules } from '../../../src/options/network-rules.ts';
import { startFarChromium } from '../../support/cdp/far-chromium.ts';
import { test as base, expect } from '../../support/cdp/fixtures.ts';
import { KINDS, TREATMENTS, type Treatment } from '../../support/cdp/request-kinds.ts';
import { differences, type Observation, observe, TableServer } from '../../support/cdp/request-table.ts';
import { fullLength, slowIf } from '../../support/property-runs.ts';

interface Way {
  server: TableServer;
  newContext: () => Promise<BrowserContext>;
  /** The page of the {@link SHARING} kinds. */
  page: Page;
}

const WAYS: Readonly<Record<string, TransportOptions>> = {
  local: {},
  loopback: { proxiedHosts: parseNetworkRules('<loopback>') },
  auto: { auto: { onVisit: () => undefined } },
  // Except for the rule, the same as loopback.
  ...fullLength<object>({ listed: { proxiedHosts: parseNetworkRules('localhost') } }, {}),
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
          const newContext = () => browser.newContext();
          return { name, way: { server, newContext, page: await (await newContext()).newPage() }, end };
        }),
      );
      await use(Object.fromEntries(started.map(({ name, way }) => [name, way])));
      for (const { end } of started) await end();
    },
    { scope: 'worker' },
  ],
});

/** How a proxied request differs from a local browser's, whatever exposes its server. */
interface Difference {
  /** Its row on one of the {@link PAGES}. */
  row: string;
  /** Default: every kind; then `fetch` proves that the difference still exists. */
  kinds?: readonly string[];
  /** Default: every treatment. */
  treatments?: readonly Treatment[];
  /** The paths that differ, see {@link differences}. */
  paths: RegExp;
}

const DIFFERENCES: readonly Difference[] = [
  { row: '`Sec-Fetch-*` headers', paths: /headers\.sec-fetch-\w+$/ },
  { row: '`accept-encoding`', paths: /headers\.accept-encoding$/ },
  { row: '`request.sizes()`', paths: /sizes\.requestHeadersSize$/ },
  {
    row: 'the script of a worker or a service worker',
    kinds: ['worker', 'nested worker'],
    paths: /sizes\.responseBodySize$/,
  },
  {
    row: 'the script of a worker or a service worker',
    kinds: ['service worker'],
    paths:
      /requests\.GET \/\w+\/service worker\.(headers\.|response\.(headers\.set-cookie|sizes))|server\.\d\.headers\.(cache-control|pragma)/,
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
];

/** The browser itself varies here: a source that is closed while its stream ends. */
const BY_CHANCE = /^EventSource mocked playwright\.requests\.GET \/asked\/EventSource\.(events|failure|response)/;

/** Kinds that `npm test` observes under every treatment, because pages, scripts and workers differ. */
const THOROUGH = ['document', 'fetch', 'XHR', 'worker', 'prefetch'];
/**
 * Kinds that are proxied as one beside them: as a fetch, as an image, as a beacon that outlives its page, as a frame of
 * another port. A prefetch that the test handles is a difference which is documented.
 */
const LIKE_OTHERS =
  /^(XHR|script|style|media|prefetch|beacon|beacon as its page closes|fetch as its page is left|(link|popup) \S+ another port)$/;
/** What a page sends while it is left or closed is not routed. */
const LEFT: readonly Treatment[] = ['plain', 'redirected'];
const treatmentsOf = (kind: string) =>
  / (left|closes)$/.test(kind)
    ? LEFT
    : THOROUGH.includes(kind)
      ? TREATMENTS
      : fullLength<readonly Treatment[]>(TREATMENTS, ['plain', 'continued', 'redirected']);
/** Kinds that leave nothing in their context, except cookies: they share a page. */
const SHARING = /^(document|form|script|style|image|font|media|fetch|XHR|EventSource|worker|nested worker)$/;
/** Kinds that leave more, or close their page: each treatment gets a new context. The others have one for all. */
const LEAVING = /^(WebSocket|shared worker|service worker|prefetch)$| closes$/;
/** The ways that a treatment is compared on: once a request is proxied, they are the same. */
const ALL_WAYS = Object.keys(WAYS).filter((name) => name !== 'local');
const waysOf = (treatment: Treatment) =>
  /^(plain|redirected)$/.test(treatment) ? ALL_WAYS : fullLength(ALL_WAYS, ['auto']);

for (const kind of Object.keys(KINDS)) {
  test(
    `${kind}: as in a local browser, except for documented differences`,
    slowIf(LIKE_OTHERS.test(kind)),
    async ({ ways }) => {
      const used = new Set<Difference>();
      const kept: Record<string, Page> = {};
      for (const treatment of treatmentsOf(kind)) {
        const seen: Record<string, Observation> = {};
        const compared = waysOf(treatment);
        const each = Object.entries(ways).map(async ([name, { server, newContext, page: shared }]) => {
          if (name !== 'local' && !compared.includes(name)) return;
          const page = SHARING.test(kind) ? shared : (kept[name] ?? (await (await newContext()).newPage()));
          seen[name] = await observe(page, server, kind, treatment);
          if (LEAVING.test(kind)) await page.context().close();
          else if (page !== shared) kept[name] = page;
        });
        await Promise.all(each);
        for (const way of compared) {
          const unexpected = differences(seen.local, seen[way]).filter(([path]) => {
            const known = DIFFERENCES.find(
              (one) =>
                (one.kinds ?? [kind]).includes(kind) &&
                (one.treatments ?? [treatment]).includes(treatment) &&
                one.paths.test(path),
            );
            if (known) used.add(known);
            return !known && !BY_CHANCE.test(`${kind} ${treatment} ${path}`);
          });
          expect.soft(unexpected, `${way}, ${treatment}`).toEqual([]);
        }
      }
      for (const page of Object.values(kept)) await page.context().close();
      const documented = DIFFERENCES.filter(({ kinds }) => (kinds ?? ['fetch']).includes(kind));
      expect(documented.filter((one) => !used.has(one))).toEqual([]);
    },
  );
}

const PAGES = ['docs/network.md', 'bench/results/exposed-network.md'];
test('documents each difference', () => {
  const table = PAGES.map((page) => readFileSync(page, 'utf8')).join('');
  for (const { row } of DIFFERENCES) expect(table).toContain(`| ${row} |`);
});
