/** The page before its script runs, with the elements that the script fills. */

export const PAGE_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>poolwright watch</title>
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="watch.css">
<script src="watch.js" defer></script>
</head>
<body>
<header>
<h1><img src="icon.svg" alt="" width="24" height="24">poolwright watch</h1>
<p id="connection" role="alert"></p>
</header>
<main id="runs"></main>
<p id="announcements" class="hidden" role="status"></p>
</body>
</html>
`;

/** A browser window with an eye, in the colour of passed tests. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect x="1" y="2" width="14" height="12" rx="2" fill="#0072b2"/><path d="M3 8.5Q8 3.5 13 8.5Q8 13.5 3 8.5Z" fill="#fff"/><circle cx="8" cy="8.5" r="1.8" fill="#0072b2"/></svg>`;

/**
 * The response to a one-time token. It leads to the page by itself: a redirect would be part of a navigation that a
 * file began, which browsers count as foreign, and send without the cookie.
 */
export function entryHtml(address: string): string {
  return `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${address}">`;
}
