import { html } from 'hono/html';

const links = [
  ['/teas', 'Teas'],
  ['/order', 'Order'],
  ['/list', 'Shopping list'],
  ['/brew', 'Brew'],
  ['/gift-card', 'Gift cards'],
  ['/visit', 'Visit'],
];

const isCurrent = (c, href) => c.req.path === href || c.req.path.startsWith(`${href}/`);

/** `scripts` are names of files in `public/`; `bare` leaves header and footer out (popup, frame). */
function document(title, body, scripts) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Leaf &amp; Kettle</title>
<link rel="icon" href="/public/leaf.svg" type="image/svg+xml">
<link rel="stylesheet" href="/public/style.css">
<script src="/public/theme.js"></script>
${scripts.map((name) => html`<script type="module" src="/public/${name}"></script>`)}
</head>
${body}
</html>`;
}

/** A whole page: header with navigation, the content, footer with the look. */
export function page(c, { title, content, scripts = [] }) {
  const user = c.get('visit').user;
  const body = html`<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="/"><img src="/public/leaf.svg" alt="" width="28" height="28"> Leaf &amp; Kettle</a>
<nav aria-label="Main">${links.map(([href, text]) => html`<a href="${href}"${isCurrent(c, href) ? html` aria-current="page"` : ''}>${text}</a>`)}</nav>
<a class="account" href="${user ? '/account' : '/login'}">${user ? user.name : 'Log in'}</a>
</header>
<main id="content">${content}</main>
<footer>
<span>Leaf &amp; Kettle, a tea house on loopback</span>
<label>Look <select id="look"><option value="">As the system</option><option value="light">Light</option><option value="dark">Dark</option></select></label>
</footer>
</body>`;
  return document(title, body, scripts);
}

/** A page without header and footer, for popups and frames. */
export function barePage({ title, content, scripts = [] }) {
  return document(title, html`<body class="bare"><main>${content}</main></body>`, scripts);
}
