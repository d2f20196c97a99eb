import { html } from 'hono/html';
import { page } from './layout.mjs';

export function errorPage(c, title, text) {
  const content = html`<div class="panel narrow"><h1>${title}</h1><p>${text}</p><p><a class="button" href="/teas">To the teas</a></p></div>`;
  return page(c, { title, content });
}
