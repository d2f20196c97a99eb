const HIDDEN = 'pages that exist when a client connects are hidden from it';
const STAYS = '`browser.close()` only disconnects: the browser ends when it is given back';
const FAR = 'waits for each of many elements: at this distance it takes too long with `ahead: false`, too';

/** Tests that pass on a plain connection and cannot through poolwright, by design, and why. */
export const MEANT: Record<string, string> = {
  'ariaqueryhandler.spec: AriaQueryHandler queryAllArray $$eval should handle many elements': FAR,
  'browsercontext.spec: BrowserContext should close all belonging targets once closing context': HIDDEN,
  'cdp/TargetManager.spec: TargetManager should handle targets': HIDDEN,
  'launcher.spec: Launcher specs Puppeteer Browser.close should terminate network waiters': STAYS,
  'launcher.spec: Launcher specs Puppeteer Puppeteer.connect should be able to close remote browser': STAYS,
  'launcher.spec: Launcher specs Puppeteer Puppeteer.connect should be able to connect to a browser with no page targets':
    STAYS,
  'launcher.spec: Launcher specs Puppeteer Puppeteer.connect should be able to reconnect': HIDDEN,
  'launcher.spec: Launcher specs Puppeteer Puppeteer.connect should be able to reconnect to a disconnected browser':
    HIDDEN,
  'launcher.spec: Launcher specs Puppeteer Puppeteer.connect should support targetFilter option': HIDDEN,
  'oopif.spec: OOPIF should detect existing OOPIFs when Puppeteer connects to an existing page': HIDDEN,
  'oopif.spec: OOPIF should recover cross-origin frames on reconnect': HIDDEN,
  'target.spec: Target should be able to use the default page in the browser': HIDDEN,
};
