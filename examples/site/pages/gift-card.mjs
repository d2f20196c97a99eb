import { createHash, randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import { errorPage } from './error.mjs';
import { page } from './layout.mjs';

function uploadPage(c, error) {
  const content = html`<div class="narrow"><h1>Gift cards</h1>
<p>Send us a picture or a letter; we print it on a card and put it on the tin.</p>
${error ? html`<div role="alert" class="notice bad">${error}</div>` : ''}
<form class="panel form" method="post" action="/gift-card" enctype="multipart/form-data">
<div class="field"><label for="to">For</label><input id="to" name="to"></div>
<div class="field"><label for="file">File</label><input id="file" name="file" type="file"></div>
<button>Send</button>
</form></div>`;
  return page(c, { title: 'Gift cards', content });
}

function cardPage(c, card) {
  const content = html`<div role="status" class="notice good">Your file has arrived.</div>
<div class="panel"><h1>Gift card${card.to ? html` for ${card.to}` : ''}</h1>
<dl class="facts">
<dt>File</dt><dd data-testid="file-name">${card.name}</dd>
<dt>Size</dt><dd data-testid="file-size">${card.size} bytes</dd>
<dt>SHA-256</dt><dd data-testid="file-hash"><code>${card.sha256}</code></dd>
</dl></div>`;
  return page(c, { title: 'Gift card', content });
}

async function readCard(form) {
  const file = form.file;
  if (!(file instanceof File) || file.name === '') return undefined;
  const bytes = Buffer.from(await file.arrayBuffer());
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { to: String(form.to ?? '').trim(), name: file.name, size: bytes.length, sha256 };
}

export function giftCardPages(app) {
  app.get('/gift-card', (c) => c.html(uploadPage(c)));
  app.post('/gift-card', async (c) => {
    const card = await readCard(await c.req.parseBody());
    if (!card) return c.html(uploadPage(c, 'Choose a file first.'), 422);
    const id = randomUUID();
    c.get('visit').giftCards.set(id, card);
    return c.redirect(`/gift-card/${id}`, 303);
  });
  app.get('/gift-card/:id', (c) => {
    const card = c.get('visit').giftCards.get(c.req.param('id'));
    if (!card) return c.html(errorPage(c, 'No such card', 'Cards are shown only to the browser that sent them.'), 404);
    return c.html(cardPage(c, card));
  });
}
