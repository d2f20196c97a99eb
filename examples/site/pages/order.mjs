import { randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import { euros, findTea, teas, tins } from '../catalogue.mjs';
import { errorPage } from './error.mjs';
import { barePage, page } from './layout.mjs';

const MAX_GRAMS = 1000;

/** Reads the posted form: the values as typed, and an error text for every field that is wrong. */
function readOrder(form) {
  const text = (name) => String(form[name] ?? '').trim();
  const values = {
    name: text('name'),
    email: text('email'),
    tea: text('tea'),
    grams: text('grams'),
    tin: text('tin'),
    gift: form.gift !== undefined,
    note: text('note'),
  };
  const errors = {};
  const grams = Number(values.grams);
  if (values.name === '') errors.name = 'Tell us your name';
  if (!/^\S+@\S+\.\S+$/.test(values.email)) errors.email = 'Enter an e-mail address, like mei@example.com';
  if (!findTea(values.tea)) errors.tea = 'Choose a tea';
  if (!Number.isInteger(grams) || grams < 50 || grams > MAX_GRAMS || grams % 50 !== 0) {
    errors.grams = `Order 50 to ${MAX_GRAMS} g, in steps of 50`;
  }
  if (!tins.includes(values.tin)) values.tin = tins[0];
  return { values, errors };
}

function field(name, label, errors, control) {
  const error = errors[name];
  return html`<div class="field${error ? ' wrong' : ''}"><label for="${name}">${label}</label>${control(
    error ? html` aria-invalid="true" aria-describedby="${name}-error"` : '',
  )}${error ? html`<p class="error" id="${name}-error">${error}</p>` : ''}</div>`;
}

function orderForm(c, { values, errors }) {
  const count = Object.keys(errors).length;
  const summary = html`<div role="alert" class="notice bad">Please correct ${count} ${count === 1 ? 'field' : 'fields'}.</div>`;
  // Validated by the server, not by the browser: `novalidate` lets the tests (and you) see the server's answer.
  const content = html`<h1>Order</h1>${count ? summary : ''}
<form class="panel form" method="post" action="/order" novalidate>
${field('name', 'Name', errors, (aria) => html`<input id="name" name="name" autocomplete="name" value="${values.name}"${aria}>`)}
${field('email', 'E-mail', errors, (aria) => html`<input id="email" name="email" type="email" autocomplete="email" value="${values.email}"${aria}>`)}
${field(
  'tea',
  'Tea',
  errors,
  (aria) =>
    html`<select id="tea" name="tea"${aria}><option value="">Choose…</option>${teas.map(
      (tea) => html`<option value="${tea.slug}"${tea.slug === values.tea ? html` selected` : ''}>${tea.name}</option>`,
    )}</select>`,
)}
${field('grams', 'Grams', errors, (aria) => html`<input id="grams" name="grams" type="number" min="50" max="${MAX_GRAMS}" step="50" value="${values.grams}"${aria}>`)}
<div class="field"><span class="label" id="tin-label">Packed in</span>
<div class="row"><output id="tin-shown" aria-labelledby="tin-label">${values.tin}</output>
<button type="button" class="plain" id="choose-tin">Choose a tin…</button></div>
<input type="hidden" id="tin" name="tin" value="${values.tin}"></div>
<div class="check"><input type="checkbox" id="gift" name="gift"${values.gift ? html` checked` : ''}><label for="gift">This is a gift</label></div>
${field('note', 'Note to the packer', errors, () => html`<textarea id="note" name="note" rows="3">${values.note}</textarea>`)}
<button>Place order</button>
</form>`;
  return page(c, { title: 'Order', content, scripts: ['order.js'] });
}

function orderPage(c, order) {
  const tea = findTea(order.tea);
  const content = html`<div role="status" class="notice good">Thank you, ${order.name}. Your tea is on its way.</div>
<div class="panel"><h1>Order ${order.id}</h1>
<dl class="facts">
<dt>Tea</dt><dd>${tea.name}</dd>
<dt>Amount</dt><dd>${order.grams} g</dd>
<dt>Packed in</dt><dd>${order.tin}</dd>
<dt>Gift</dt><dd>${order.gift ? 'Yes' : 'No'}</dd>
${order.note ? html`<dt>Note</dt><dd>${order.note}</dd>` : ''}
<dt>Total</dt><dd>${euros((tea.price * Number(order.grams)) / 100)}</dd>
</dl>
<p>A receipt goes to ${order.email}.</p></div>`;
  return page(c, { title: `Order ${order.id}`, content });
}

/** The popup: it tells its opener what was chosen, and closes. */
const tinsPage = () =>
  barePage({
    title: 'Choose a tin',
    scripts: ['tins.js'],
    content: html`<h1>Choose a tin</h1><div class="stack">${tins.map((tin) => html`<button type="button" class="plain" data-tin="${tin}">${tin}</button>`)}</div>`,
  });

export function orderPages(app) {
  app.get('/order', (c) => {
    const values = {
      name: '',
      email: '',
      tea: c.req.query('tea') ?? '',
      grams: '100',
      tin: tins[0],
      gift: false,
      note: '',
    };
    return c.html(orderForm(c, { values, errors: {} }));
  });
  app.post('/order', async (c) => {
    const { values, errors } = readOrder(await c.req.parseBody());
    if (Object.keys(errors).length > 0) return c.html(orderForm(c, { values, errors }), 422);
    const order = { ...values, id: randomUUID().slice(0, 8).toUpperCase() };
    c.get('visit').orders.set(order.id, order);
    return c.redirect(`/orders/${order.id}`, 303);
  });
  app.get('/orders/:id', (c) => {
    const order = c.get('visit').orders.get(c.req.param('id'));
    if (!order)
      return c.html(errorPage(c, 'No such order', 'Orders are shown only to the browser that placed them.'), 404);
    return c.html(orderPage(c, order));
  });
  app.get('/tins', (c) => c.html(tinsPage()));
}
