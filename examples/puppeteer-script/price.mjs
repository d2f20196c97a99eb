import { leaseBrowser } from 'poolwright/puppeteer';
import { startSite } from './site.mjs';

/** Reads a price off a page, and keeps a picture of it. */

const site = await startSite();
const { browser, session, release } = await leaseBrowser({ session: { type: 'hosted', country: 'US', duration: 120 } });
try {
  const page = await browser.newPage();
  await page.goto(site.url);
  const price = await page.$eval('output', (output) => output.textContent);
  await page.screenshot({ path: 'price.png' });
  console.log(`${price}, seen by session ${session.sessionId}`);
} finally {
  await release(); // without it, the browser is given back when the script ends
  site.close();
}
