import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { errorMessage } from '../../common/error-message.ts';
import { redactText } from '../../redact.ts';
import { cut, MAX_HTML, MAX_TEXT, SPARE, type TimeLimit } from './bounds.ts';
import type { PageLine } from './page-log.ts';

export interface PageEvidence {
  address: string | null;
  /** File names; null: see `missing`. */
  screenshot: string | null;
  html: string | null;
  console: { at: string; type: string; text: string; from: string }[];
  /** What is not there, or not whole, and why. */
  missing: string[];
}

/** A page, and how its evidence is collected. */
export interface PageSource {
  page: Page;
  lines: readonly PageLine[];
  directory: string;
  /** Begins the names of its files. */
  name: string;
  /** Whether its browser was lost. */
  isLost: boolean;
  limit: TimeLimit;
  /** Masks secrets. */
  redact(texts: string[]): Promise<string[]>;
}

/** Doctype and document, and whether they were cut. */
const READ_HTML = `(() => {
  const { doctype, documentElement } = document;
  const text = (doctype ? new XMLSerializer().serializeToString(doctype) + '\\n' : '') + documentElement.outerHTML;
  return { text: text.slice(0, ${MAX_HTML + SPARE}), isCut: text.length > ${MAX_HTML + SPARE} };
})()`;
/** What a document may that is opened from the disk: no script, and nothing from elsewhere. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:; base-uri 'none'; form-action 'none'";
const HEAD = `<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta http-equiv="x-dns-prefetch-control" content="off">
`;

/** Collects what the time limit allows. Never rejects. */
export async function collectPage(source: PageSource): Promise<PageEvidence> {
  const missing: string[] = [];
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | null> => {
    try {
      return await source.limit.step(work());
    } catch (error) {
      missing.push(`${what}: ${redactText(errorMessage(error))}`);
      return null;
    }
  };
  const fromBrowser = async (what: string, work: () => Promise<string>) => {
    if (!source.isLost) return await attempt(what, work);
    missing.push(`${what}: the browser was lost`);
    return null;
  };
  const [screenshot, html, texts] = await Promise.all([
    fromBrowser('screenshot', () => saveScreenshot(source)),
    fromBrowser('html', () => saveHtml(source, () => missing.push(`html: only its first ${MAX_HTML} bytes`))),
    attempt('address and console', () => textsOf(source)),
  ]);
  return { address: texts?.address ?? null, screenshot, html, console: texts?.console ?? [], missing: missing.sort() };
}

/**
 * In a separate session, because Puppeteer's `screenshot()` waits for all others in the browser, including those of a
 * page that hangs.
 */
async function saveScreenshot({ page, directory, name }: PageSource): Promise<string> {
  const session = await page.createCDPSession();
  try {
    const { data } = await session.send('Page.captureScreenshot', { format: 'png' });
    const file = `${name}.png`;
    await writeFile(join(directory, file), data, 'base64');
    return file;
  } finally {
    session.detach().catch(() => undefined);
  }
}

async function saveHtml({ page, directory, name, redact }: PageSource, onCut: () => void): Promise<string> {
  const { text, isCut } = (await page.evaluate(READ_HTML)) as { text: string; isCut: boolean };
  const [masked = ''] = await redact([text]);
  const bytes = Buffer.from(cut(masked, isCut, MAX_HTML));
  if (isCut || bytes.length > MAX_HTML) onCut();
  // In a stream, an incomplete last character is left out.
  const html = new TextDecoder().decode(bytes.subarray(0, MAX_HTML), { stream: true });
  const file = `${name}.html`;
  await writeFile(join(directory, file), inertHtml(html));
  return file;
}

/**
 * The document for a reader who opens the file: it runs nothing, requests nothing and goes nowhere. A policy does not
 * forbid a refresh, nor the connections that a `<link>` opens in advance; a frame's own document could have either.
 */
export function inertHtml(html: string): string {
  const inert = html
    .replace(/(?:http-equiv|srcdoc)(?=\s*=)/gi, 'data-$&')
    .replace(/<link(?=[\s/>])/gi, '<meta data-link');
  return inert.replace(/^(<!doctype[^>]*>)?\s*/i, (start) => `${start}${HEAD}`);
}

async function textsOf({ page, lines, redact }: PageSource): Promise<Pick<PageEvidence, 'address' | 'console'>> {
  const given = [addressOf(page), ...lines.flatMap(({ text, from }) => [text, from])];
  const masked = (await redact(given)).map((text, n) =>
    cut(text, (given[n]?.length ?? 0) >= MAX_TEXT + SPARE, MAX_TEXT),
  );
  const console = lines.map(({ at, type }, n) => ({
    at: new Date(at).toISOString(),
    type,
    text: masked[2 * n + 1] ?? '',
    from: masked[2 * n + 2] ?? '',
  }));
  return { address: masked[0] ?? '', console };
}

/** Puppeteer 22 has no frames of a page whose browser was lost, and its `url()` throws. */
function addressOf(page: Page): string {
  try {
    return page.url();
  } catch {
    return page.target().url();
  }
}
