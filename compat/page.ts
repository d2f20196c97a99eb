import { readFile, writeFile } from 'node:fs/promises';

const PAGE = 'bench/results/compatibility.md';
const PUPPETEER = '## Puppeteer\n';

/** Writes Playwright's part of the page anew, heading included, and keeps what is said of Puppeteer. */
export async function writePlaywrightPart(text: string): Promise<void> {
  const { puppeteer } = await parts();
  await writeFile(PAGE, [text.trimEnd(), ...(puppeteer ? [`${PUPPETEER}${puppeteer}`] : [])].join('\n\n').concat('\n'));
}

/** Writes Puppeteer's part of the page anew, and keeps what is said of Playwright. */
export async function writePuppeteerPart(text: string): Promise<void> {
  const { playwright } = await parts();
  await writeFile(PAGE, `${playwright}\n\n${PUPPETEER}\n${text.trim()}\n`);
}

async function parts(): Promise<{ playwright: string; puppeteer: string }> {
  const [playwright = '', puppeteer = ''] = (await readFile(PAGE, 'utf8')).split(PUPPETEER);
  return { playwright: playwright.trimEnd(), puppeteer: puppeteer.trimEnd() };
}
