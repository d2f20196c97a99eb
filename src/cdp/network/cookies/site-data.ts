import { within } from '../../../common/pause.ts';
import type { BrowserCommands } from '../../transport/interceptor.ts';
import type { HeaderList } from '../headers/header-list.ts';
import type { PausedRequest } from '../request/paused-request.ts';
import { isTrustworthy, isWithin, type RequestCookies } from './request-cookies.ts';

/** What `"storage"` means in CDP's terms; session storage has its own command. */
const STORAGE = 'cache_storage,file_systems,indexeddb,local_storage,service_workers,storage_buckets,websql';
/** Time limit for clearing, in ms: the response waits for it. */
const CLEAR_MS = 10_000;

/**
 * Clears data as `Clear-Site-Data` of a proxied response says: the browser ignores the header of a response that it
 * gets over CDP. Its HTTP cache holds no such responses.
 */
export class SiteData {
  readonly #commands: BrowserCommands;
  readonly #cookies: RequestCookies;

  constructor(commands: BrowserCommands, cookies: RequestCookies) {
    this.#commands = commands;
    this.#cookies = cookies;
  }

  /** Never rejects. */
  async clear(paused: PausedRequest, headers: HeaderList): Promise<void> {
    const values = headers.flatMap(({ name, value }) => (/^clear-site-data$/i.test(name) ? value.split(',') : []));
    const directives = new Set(values.map((value) => value.trim()));
    const clears = (directive: string) => directives.has(directive) || directives.has('"*"');
    if (!isTrustworthy(new URL(paused.url)) || !(clears('"cookies"') || clears('"storage"'))) return;
    if (!(await this.#cookies.hadCredentials(paused, headers))) return;
    const cleared = Promise.all([
      clears('"cookies"') ? this.#clearCookies(paused) : undefined,
      clears('"storage"') ? this.#clearStorage(paused) : undefined,
    ]).catch(() => undefined);
    await within(cleared, CLEAR_MS, undefined);
  }

  /** Those of the whole site, in the partition of the request. */
  async #clearCookies(paused: PausedRequest): Promise<void> {
    const { target, url } = paused;
    const sessionId = target.session.id;
    const site = this.#cookies.siteOf(url);
    const { protocol } = new URL(url);
    const all = (await this.#cookies.all(sessionId)) ?? [];
    const own = all.filter(({ domain }) => isWithin(`${protocol}//${domain.replace(/^\./, '')}`, site));
    const deleted = own.map(async (cookie) => {
      const { name, domain, path, partitionKey } = cookie;
      if (partitionKey && !this.#cookies.isOfPartition(cookie, paused)) return;
      await this.#commands.call(
        'Network.deleteCookies',
        { name, domain, path, ...(partitionKey && { partitionKey }) },
        sessionId,
      );
    });
    await Promise.all(deleted);
  }

  async #clearStorage({ target, url }: PausedRequest): Promise<void> {
    const sessionId = target.session.id;
    const { origin } = new URL(url);
    const storageId = { securityOrigin: origin, isLocalStorage: false };
    await Promise.allSettled([
      this.#commands.call('Storage.clearDataForOrigin', { origin, storageTypes: STORAGE }, sessionId),
      this.#commands.call('DOMStorage.clear', { storageId }, sessionId),
    ]);
  }
}
