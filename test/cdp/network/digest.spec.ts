import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from '@playwright/test';
import { expect, test } from '../../support/cdp/auto-fixtures.ts';
import { localChromium } from '../../support/local-chromium.ts';

/** HTTP Digest with `httpCredentials`: a server that checks it lets the proxy in as it does a local browser. */

const CREDENTIALS = { username: 'ada', password: 'se:cr"et' };
const REALM = 'one, "two"';
const NONCE = 'n0nce==';
/** By path: the parameters of the challenge. */
const CHALLENGES: Record<string, string> = {
  '/old': '',
  '/md5': ', algorithm=MD5, qop="auth,auth-int", opaque="o\\"p"',
  '/sha256': ', algorithm=SHA-256, qop=auth',
  '/session': ', algorithm=MD5-sess, qop="auth"',
  // Basic is left.
  '/unknown': ', algorithm=SHA-512-256, qop="auth"',
};

/** Whether the header answers the challenge of the path, by RFC 7616. */
function isRight({ url = '', method = '', headers }: IncomingMessage): boolean {
  const { authorization = '' } = headers;
  const basic = Buffer.from(`${CREDENTIALS.username}:${CREDENTIALS.password}`).toString('base64');
  if (url.startsWith('/unknown')) return authorization === `Basic ${basic}`;
  const field = (name: string) => {
    const [, quoted, token] = new RegExp(`\\b${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,]+))`).exec(authorization) ?? [];
    return quoted?.replace(/\\(.)/g, '$1') ?? token ?? '';
  };
  const hash = url.startsWith('/sha256') ? 'sha256' : 'md5';
  const of = (...parts: string[]) => createHash(hash).update(parts.join(':')).digest('hex');
  const user = of(CREDENTIALS.username, REALM, CREDENTIALS.password);
  const who = url.startsWith('/session') ? of(user, NONCE, field('cnonce')) : user;
  const rest = url.startsWith('/old') ? [] : [field('nc'), field('cnonce'), field('qop')];
  const isOfUser = field('username') === CREDENTIALS.username && field('realm') === REALM;
  return isOfUser && field('uri') === url && field('response') === of(who, NONCE, ...rest, of(method, url));
}

test('answers Digest as a local browser does, and prefers it to Basic', async ({ newContext }) => {
  const server = createServer((request, response) => {
    if (isRight(request)) return response.setHeader('content-type', 'text/html').end('in');
    const [, path = ''] = /^(\/\w+)/.exec(request.url ?? '') ?? [];
    const realm = `realm="${REALM.replaceAll('"', '\\"')}"`;
    const challenges = [`Basic ${realm}`, `Digest ${realm}, nonce="${NONCE}"${CHALLENGES[path] ?? ''}`];
    return response.writeHead(401, { 'www-authenticate': challenges }).end('out');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const local: Browser = await chromium.launch({ executablePath: await localChromium() });
  const visit = async (context: Awaited<ReturnType<typeof newContext>>) => {
    const page = await context.newPage();
    const seen: (string | number | undefined)[] = [];
    for (const path of Object.keys(CHALLENGES)) {
      seen.push((await page.goto(`http://127.0.0.1:${port}${path}?a=b,c`))?.status());
      seen.push(await page.evaluate(`fetch('${path}', { method: 'POST' }).then((answer) => answer.text())`));
    }
    return seen;
  };
  try {
    const right = Object.keys(CHALLENGES).flatMap(() => [200, 'in']);
    expect(await visit(await local.newContext({ httpCredentials: CREDENTIALS }))).toEqual(right);
    expect(await visit(await newContext({ httpCredentials: CREDENTIALS }))).toEqual(right);
    const wrong = await newContext({ httpCredentials: { ...CREDENTIALS, password: 'other' } });
    expect((await (await wrong.newPage()).goto(`http://127.0.0.1:${port}/md5`))?.status()).toBe(401);
  } finally {
    await local.close();
    server.closeAllConnections();
    server.close();
  }
});
