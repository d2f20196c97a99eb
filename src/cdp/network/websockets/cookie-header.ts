import * as v from 'valibot';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import type { ProxiedTarget } from '../proxied-targets.ts';

const cookieList = v.looseObject({
  cookies: v.array(v.looseObject({ name: v.string(), value: v.string(), domain: v.string(), path: v.string() })),
});
type Cookie = v.InferOutput<typeof cookieList>['cookies'][number];

/**
 * Returns the value of the `Cookie` header of a WebSocket; empty for none, or if the page is gone.
 * @param page a page of the same context
 */
export async function cookieHeader(
  transport: InterceptorTransport,
  url: string,
  page: ProxiedTarget | undefined,
): Promise<string> {
  if (!page) return '';
  const { id, target } = page.session;
  // `ws:` addresses have the cookies of `http:` ones.
  const urls = [url.replace(/^ws/, 'http')];
  try {
    const [matching, all] = await Promise.all([
      transport.call('Network.getCookies', { urls }, id),
      // Only this list is in the order in which a browser sends cookies.
      transport.call('Storage.getCookies', { ...(target.contextId && { browserContextId: target.contextId }) }),
    ]);
    const order = v.parse(cookieList, all).cookies.map(keyOf);
    const { cookies } = v.parse(cookieList, matching);
    const sorted = cookies.sort((one, other) => order.indexOf(keyOf(one)) - order.indexOf(keyOf(other)));
    return sorted.map(({ name, value }) => `${name}=${value}`).join('; ');
  } catch {
    return '';
  }
}

function keyOf({ name, domain, path }: Cookie): string {
  return `${domain} ${path} ${name}`;
}
