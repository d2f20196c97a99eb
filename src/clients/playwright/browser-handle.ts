import type { Browser } from '@playwright/test';
import type { PlaywrightConnection } from './connection.ts';

/**
 * A `Browser` that stays the same object while the connection behind it changes. Forwards everything to the leased
 * browser except the members in `own` and the default context, which a locally launched browser does not have.
 */
export function browserHandle(
  current: () => PlaywrightConnection,
  own: Pick<Browser, 'close' | 'newContext'>,
): Browser {
  const members: Partial<Browser> = {
    ...own,
    contexts: () => {
      const { browser, defaultContext } = current();
      return browser.contexts().filter((context) => context !== defaultContext);
    },
  };
  const handle: Browser = new Proxy(current().browser, {
    get(_target, property) {
      const ours: unknown = Reflect.get(members, property);
      if (ours !== undefined) return ours;
      const { browser } = current();
      const value: unknown = Reflect.get(browser, property, browser);
      if (typeof value !== 'function') return value;
      // `newPage` calls `this.newContext`, which must be the handle's. Everything else runs on the leased browser.
      return property === 'newPage' ? value.bind(handle) : value.bind(browser);
    },
  });
  return handle;
}
