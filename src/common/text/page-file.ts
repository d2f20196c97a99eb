import { createHash } from 'node:crypto';

/** The parts of a page in one file. */
export interface PageFile {
  title: string;
  /** Of the browser's own controls and scrollbars, and for phones. */
  style: string;
  script: string;
  /** What the script shows: it finds the JSON in the element `data`. */
  data: unknown;
  /** HTML of the body's content, before the data and the script. */
  body: string;
}

/**
 * One HTML file that loads no other files. Its content security policy allows only its own script and style, and
 * pictures in data URLs.
 */
export function pageFile({ title, style, script, data, body }: PageFile): string {
  const policy = `default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
${body}
<script type="application/json" id="data">${inScript(JSON.stringify(data))}</script>
<script>${script}</script>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Escapes JSON so that HTML parsers cannot find markup in it. */
function inScript(json: string): string {
  return json.replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

function hashOf(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}
