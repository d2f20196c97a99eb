import { createServer } from 'node:http';

/** `node site.mjs PORT`: a tea shop of two pages. */

const PAGES = {
  '/': '<h1>Tea, picked slowly</h1><a href="/teas">See all teas</a>',
  '/teas': '<h1>Teas</h1><ul><li><a href="/teas">Morning Mist</a></li></ul>',
};

createServer((request, response) => {
  const content = PAGES[request.url];
  response.writeHead(content ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' });
  response.end(`<!doctype html><link rel="icon" href="data:,"><title>Tea shop</title>${content ?? 'Not here'}`);
}).listen(Number(process.argv[2]), '127.0.0.1');
