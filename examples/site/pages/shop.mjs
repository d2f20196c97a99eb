import { html } from 'hono/html';
import { euros, findTea, priceList, teas } from '../catalogue.mjs';
import { gardenPicture } from '../garden-picture.mjs';
import { errorPage } from './error.mjs';
import { page } from './layout.mjs';

const cup = (tea) => html`<svg class="cup" viewBox="0 0 120 90" aria-hidden="true" focusable="false">
<path class="steam" d="M46 26q-6-7 0-13t0-11M64 26q-6-7 0-13t0-11"/>
<path class="china" d="M22 34h68v18a30 30 0 0 1-30 30h-8a30 30 0 0 1-30-30z"/>
<path class="handle" d="M90 40h6a11 11 0 0 1 0 22h-9"/>
<ellipse cx="56" cy="36" rx="30" ry="5" fill="${tea.color}"/>
</svg>`;

const card = (tea) => html`<li class="card">
${cup(tea)}
<h3><a href="/teas/${tea.slug}">${tea.name}</a></h3>
<p class="quiet">${tea.kind} · ${tea.origin}</p>
<p class="price">${euros(tea.price)} <span class="quiet">/ 100 g</span></p>
</li>`;

function homePage(c) {
  return page(c, {
    title: 'Welcome',
    content: html`<section class="hero">
<h1>Tea, picked slowly and sent quickly</h1>
<p>Six teas, each from one garden, packed on the day you order.</p>
<p><a class="button" href="/teas">See all teas</a> <a href="/garden">Our garden in Uji</a></p>
</section>
<section aria-labelledby="season"><h2 id="season">This season</h2><ul class="cards">${teas.slice(0, 3).map(card)}</ul></section>`,
  });
}

function teasPage(c) {
  return page(c, {
    title: 'Teas',
    content: html`<div class="heading"><h1>Teas</h1><a href="/price-list.csv" download>Price list (CSV)</a></div>
<ul class="cards">${teas.map(card)}</ul>`,
  });
}

function teaPage(c, tea) {
  return page(c, {
    title: tea.name,
    content: html`<nav aria-label="Breadcrumb" class="crumbs"><a href="/teas">Teas</a> <span aria-hidden="true">/</span> <span aria-current="page">${tea.name}</span></nav>
<article class="panel tea">${cup(tea)}<div>
<h1>${tea.name}</h1>
<p>${tea.text}</p>
<dl class="facts">
<dt>Kind</dt><dd>${tea.kind}</dd>
<dt>Origin</dt><dd>${tea.origin}</dd>
<dt>Brew</dt><dd>${tea.minutes} min at ${tea.celsius} °C</dd>
<dt>Price</dt><dd>${euros(tea.price)} / 100 g</dd>
</dl>
<p><a class="button" href="/order?tea=${tea.slug}">Order ${tea.name}</a> <a href="/brew?tea=${tea.slug}">Brew a cup</a></p>
</div></article>`,
  });
}

function gardenPage(c) {
  return page(c, {
    title: 'Our garden',
    content: html`<h1>Our garden</h1>
<figure><img class="wide" src="/garden.png" width="1200" height="520" alt="Rows of tea on misty hills at sunrise">
<figcaption>Uji, an hour after sunrise, on film.</figcaption></figure>`,
  });
}

export function shopPages(app) {
  app.get('/', (c) => c.html(homePage(c)));
  app.get('/teas', (c) => c.html(teasPage(c)));
  app.get('/teas/:slug', (c) => {
    const tea = findTea(c.req.param('slug'));
    if (!tea) return c.html(errorPage(c, 'Sold out', 'We do not know this tea.'), 404);
    return c.html(teaPage(c, tea));
  });
  app.get('/price-list.csv', (c) =>
    c.body(priceList(), 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="price-list.csv"',
    }),
  );
  app.get('/garden', (c) => c.html(gardenPage(c)));
  // About 1 MB, and never from the cache: the heavy page of the site.
  app.get('/garden.png', (c) =>
    c.body(gardenPicture(), 200, { 'content-type': 'image/png', 'cache-control': 'no-store' }),
  );
}
