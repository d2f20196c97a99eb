import { setTimeout as sleep } from 'node:timers/promises';
import { html } from 'hono/html';
import { findTea, teas } from '../catalogue.mjs';
import { barePage, page } from './layout.mjs';

const MAX_DELAY_MS = 5000;
const DEFAULT_DELAY_MS = 1200;

function brewPage(c) {
  const chosen = c.req.query('tea');
  const content = html`<div class="narrow"><h1>Brew a cup</h1>
<p>The kettle takes its time: the answer comes after a while, with a spinner until then.</p>
<form class="panel form" id="brew" data-delay="${c.req.query('delay') ?? DEFAULT_DELAY_MS}">
<div class="field"><label for="tea">Tea</label><select id="tea">${teas.map(
    (tea) => html`<option value="${tea.slug}"${tea.slug === chosen ? html` selected` : ''}>${tea.name}</option>`,
  )}</select></div>
<button>Put the kettle on</button>
</form>
<div id="kettle" class="kettle" hidden><span class="spinner" aria-hidden="true"></span> Water is heating…</div>
<div id="cup" role="status"></div></div>`;
  return page(c, { title: 'Brew a cup', content, scripts: ['brew.js'] });
}

function visitPage(c) {
  const content = html`<h1>Visit us</h1>
<div class="columns"><div><p>12 Harbour Lane, behind the green door. There are nine seats, so book one.</p>
<p class="quiet">The booking form is a separate page, in a frame.</p></div>
<iframe title="Book a table" src="/visit/table" height="360"></iframe></div>`;
  return page(c, { title: 'Visit us', content });
}

const tablePage = (booked) =>
  barePage({
    title: 'Book a table',
    content: html`<h1>Book a table</h1>
${booked ? html`<div role="status" class="notice good">Table for ${booked.guests} on ${booked.day} is yours.</div>` : ''}
<form class="form" method="post" action="/visit/table">
<div class="field"><label for="day">Day</label><select id="day" name="day"><option>Friday</option><option>Saturday</option><option>Sunday</option></select></div>
<div class="field"><label for="guests">Guests</label><input id="guests" name="guests" type="number" min="1" max="9" value="2" required></div>
<button>Book</button></form>`,
  });

function delayOf(c) {
  const delay = Number(c.req.query('delay') ?? DEFAULT_DELAY_MS);
  return Number.isFinite(delay) ? Math.min(Math.max(delay, 0), MAX_DELAY_MS) : DEFAULT_DELAY_MS;
}

export function visitPages(app) {
  app.get('/brew', (c) => c.html(brewPage(c)));
  app.get('/api/brew', async (c) => {
    const tea = findTea(c.req.query('tea') ?? '');
    if (!tea) return c.json({ error: 'no such tea' }, 404);
    await sleep(delayOf(c));
    return c.json({ tea: tea.name, minutes: tea.minutes, celsius: tea.celsius });
  });
  app.get('/visit', (c) => c.html(visitPage(c)));
  app.get('/visit/table', (c) => c.html(tablePage()));
  app.post('/visit/table', async (c) => {
    const form = await c.req.parseBody();
    const guests = Math.min(Math.max(Number.parseInt(String(form.guests), 10) || 1, 1), 9);
    return c.html(tablePage({ day: String(form.day ?? 'Friday'), guests }));
  });
}
