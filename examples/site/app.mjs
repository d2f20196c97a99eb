import { fileURLToPath } from 'node:url';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { accountPages } from './pages/account.mjs';
import { errorPage } from './pages/error.mjs';
import { giftCardPages } from './pages/gift-card.mjs';
import { listPages } from './pages/list.mjs';
import { orderPages } from './pages/order.mjs';
import { shopPages } from './pages/shop.mjs';
import { visitPages } from './pages/visit.mjs';
import { createVisits } from './visits.mjs';

const VISIT_COOKIE = 'tea_visit';
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const publicDirectory = fileURLToPath(new URL('./public', import.meta.url));

/** The tea house as a plain handler: a request in, a response out, no port. Everything it remembers is in memory. */
export function createApp() {
  const app = new Hono();
  const visits = createVisits();

  app.use(
    '/public/*',
    serveStatic({ root: publicDirectory, rewriteRequestPath: (path) => path.replace('/public', '') }),
  );

  // Each visitor gets a cookie that holds orders, list and login, so that tests do not affect each other.
  app.use(async (c, next) => {
    const { id, visit } = visits.open(getCookie(c, VISIT_COOKIE));
    if (id !== getCookie(c, VISIT_COOKIE))
      setCookie(c, VISIT_COOKIE, id, { path: '/', httpOnly: true, sameSite: 'Lax' });
    c.set('visit', visit);
    await next();
  });
  app.use(
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: (c) => c.html(errorPage(c, 'Too large', 'Files may have up to 10 MB.'), 413),
    }),
  );

  for (const pages of [shopPages, orderPages, accountPages, giftCardPages, listPages, visitPages]) pages(app);

  app.notFound((c) => c.html(errorPage(c, 'Not on the shelf', 'There is no such page in the tea house.'), 404));
  app.onError((error, c) => {
    console.error(error);
    return c.html(errorPage(c, 'Spilt', 'Something went wrong in the kitchen.'), 500);
  });
  return app;
}
