import { html } from 'hono/html';
import { findTea } from '../catalogue.mjs';
import { page } from './layout.mjs';

/** The one customer. Not a secret: it is printed on the login page. */
const customer = { name: 'Mei Tanaka', email: 'mei@example.com', password: 'oolong' };

function loginPage(c, { email = '', next = '', failed = false } = {}) {
  const content = html`<div class="narrow"><h1>Log in</h1>
${failed ? html`<div role="alert" class="notice bad">E-mail or password is wrong.</div>` : ''}
<form class="panel form" method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<div class="field"><label for="email">E-mail</label><input id="email" name="email" type="email" autocomplete="username" required value="${email}"></div>
<div class="field"><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required></div>
<button>Log in</button>
</form>
<p class="quiet">For a look around: ${customer.email}, password ${customer.password}.</p></div>`;
  return page(c, { title: 'Log in', content });
}

function accountPage(c) {
  const { user, orders } = c.get('visit');
  const rows = [...orders.values()].map(
    (order) =>
      html`<tr><td><a href="/orders/${order.id}">${order.id}</a></td><td>${findTea(order.tea).name}</td><td>${order.grams} g</td></tr>`,
  );
  const content = html`<div class="heading"><h1>Hello, ${user.name}</h1>
<form method="post" action="/logout"><button class="plain">Log out</button></form></div>
<div class="panel"><h2>Your orders</h2>
${
  rows.length
    ? html`<table><thead><tr><th scope="col">Order</th><th scope="col">Tea</th><th scope="col">Amount</th></tr></thead><tbody>${rows}</tbody></table>`
    : html`<p class="quiet">None yet. <a href="/order">Order a tea</a>.</p>`
}</div>`;
  return page(c, { title: 'Your account', content });
}

/** Only paths of this site: a redirect must not lead elsewhere. */
const safePath = (next) => (/^\/(?![/\\])/.test(next) ? next : '/account');

export function accountPages(app) {
  app.get('/login', (c) => c.html(loginPage(c, { next: c.req.query('next') })));
  app.post('/login', async (c) => {
    const form = await c.req.parseBody();
    const [email, password, next] = [form.email, form.password, form.next].map((value) => String(value ?? ''));
    if (email !== customer.email || password !== customer.password) {
      return c.html(loginPage(c, { email, next, failed: true }), 401);
    }
    c.get('visit').user = { name: customer.name };
    return c.redirect(safePath(next), 303);
  });
  app.post('/logout', (c) => {
    c.get('visit').user = null;
    return c.redirect('/', 303);
  });
  app.get('/account', (c) => {
    if (!c.get('visit').user) return c.redirect('/login?next=/account');
    return c.html(accountPage(c));
  });
}
