import { createServer } from 'node:http';

/** `node site.mjs PORT`: a login that sets a cookie for a day, and an account that asks for it. */

const page = (content) => `<!doctype html><link rel="icon" href="data:,"><title>Shop</title>${content}`;
const LOGIN = page(
  '<form method="post"><label>Name <input name="name" required></label><button>Log in</button></form>',
);
const ACCOUNT = page('<h1>Hello, Mei</h1>');

createServer((request, response) => {
  const go = (location) => response.writeHead(303, { location }).end();
  const show = (html) => response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
  if (request.url === '/login' && request.method === 'POST') {
    request.resume();
    // With `Max-Age`: a profile keeps no cookie that ends with the browser.
    response.setHeader('set-cookie', 'customer=mei; Max-Age=86400; Path=/; HttpOnly');
    return go('/account');
  }
  if (request.url === '/login') return show(LOGIN);
  return request.headers.cookie?.includes('customer=mei') ? show(ACCOUNT) : go('/login');
}).listen(Number(process.argv[2]), '127.0.0.1');
