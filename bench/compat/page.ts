import { readFile, writeFile } from 'node:fs/promises';

const PAGE = 'bench/results/compatibility.md';
const PUPPETEER = '## Puppeteer\n';

/** Writes Playwright's part of the page anew, heading included, and keeps the sections below it. */
export async function writePlaywrightPart(text: string): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  await writeFile(PAGE, `${text.trimEnd()}\n${page.slice(page.indexOf('\n## '))}`);
}

/** Writes Puppeteer's part of the page anew, which is the last one. */
export async function writePuppeteerPart(text: string): Promise<void> {
  const [before = ''] = (await readFile(PAGE, 'utf8')).split(PUPPETEER);
  await writeFile(PAGE, `${before}${PUPPETEER}\n${text.trim()}\n`);
}
