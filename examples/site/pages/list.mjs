import { html } from 'hono/html';
import { page } from './layout.mjs';

const MAX_ITEMS = 100;
const MAX_LENGTH = 80;

function listPage(c) {
  const content = html`<div class="narrow"><h1>Shopping list</h1>
<form class="panel row" id="add"><label class="grow">New item <input id="item" maxlength="${MAX_LENGTH}" autocomplete="off"></label><button>Add</button></form>
<p id="state" role="status" class="quiet">Loading…</p>
<ul id="items" class="items" aria-label="Items"></ul>
<div class="row"><button type="button" class="plain" id="save">Save as file</button>
<button type="button" class="plain" id="clear">Clear the list</button></div></div>`;
  return page(c, { title: 'Shopping list', content, scripts: ['list.js'] });
}

/** The page, and the JSON API it talks to: `GET`, `POST`, `DELETE /api/list` and `PATCH`, `DELETE /api/list/:id`. */
export function listPages(app) {
  const readText = async (c) => {
    const body = await c.req.json().catch(() => null);
    const text = typeof body?.text === 'string' ? body.text.trim() : '';
    return text.length > 0 && text.length <= MAX_LENGTH ? text : undefined;
  };
  const badText = (c) => c.json({ error: `text must have 1 to ${MAX_LENGTH} characters` }, 400);
  const find = (c) => c.get('visit').list.find((item) => item.id === Number(c.req.param('id')));

  app.get('/list', (c) => c.html(listPage(c)));
  app.get('/api/list', (c) => c.json({ items: c.get('visit').list }));
  app.post('/api/list', async (c) => {
    const visit = c.get('visit');
    const text = await readText(c);
    if (text === undefined) return badText(c);
    if (visit.list.length >= MAX_ITEMS) return c.json({ error: `a list holds ${MAX_ITEMS} items` }, 409);
    const item = { id: visit.nextItem++, text };
    visit.list.push(item);
    return c.json(item, 201);
  });
  app.delete('/api/list', (c) => {
    c.get('visit').list = [];
    return c.body(null, 204);
  });
  app.patch('/api/list/:id', async (c) => {
    const item = find(c);
    if (!item) return c.json({ error: 'no such item' }, 404);
    const text = await readText(c);
    if (text === undefined) return badText(c);
    item.text = text;
    return c.json(item);
  });
  app.delete('/api/list/:id', (c) => {
    const visit = c.get('visit');
    const item = find(c);
    if (!item) return c.json({ error: 'no such item' }, 404);
    visit.list = visit.list.filter((other) => other !== item);
    return c.body(null, 204);
  });
}
