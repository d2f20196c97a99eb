import { Screencast } from '../../../src/cdp/screencast/screencast.ts';
import { Person } from '../../support/cdp/person.ts';
import { Album, coloured } from '../../support/cdp/pictures.ts';
import { expect, test } from '../../support/cdp/puppeteer.ts';
import { slowIf } from '../../support/property-runs.ts';

for (const onFullChromium of [false, true]) {
  test.describe(onFullChromium ? 'full Chromium' : 'headless shell', () => {
    test.use({ onFullChromium });

    // Its pages get theirs as Playwright's do: playwright.spec.ts.
    test(
      "gives pictures of Puppeteer's pages and popups until they close",
      slowIf(onFullChromium),
      async ({ cdpUrl, connectPuppeteer }) => {
        const screencast = new Screencast();
        const album = new Album();
        screencast.start(album);
        const browser = await connectPuppeteer(cdpUrl, { screencast });
        const viewer = await browser.newPage();
        const context = await browser.createBrowserContext();
        const page = await context.newPage();
        await page.goto(coloured('red'));
        await album.shows(viewer, page.url(), 'red');
        const [popup] = await Promise.all([
          new Promise<Awaited<ReturnType<typeof browser.newPage>> | null>((resolve) => page.once('popup', resolve)),
          page.evaluate(`void open('about:blank')`),
        ]);
        await popup?.goto(coloured('blue'));
        await album.shows(viewer, coloured('blue'), 'blue');
        const targets = [album.last(coloured('red'))?.target, album.last(coloured('blue'))?.target];
        await context.close();
        await expect.poll(() => [...album.ended].sort()).toEqual(targets.sort());
        // A page goes on as usual.
        await viewer.goto(coloured('lime'));
        expect(await viewer.title()).toBe('lime');
        await album.shows(viewer, viewer.url(), 'lime');
      },
    );

    test('lets a person type into a page, also behind another one', async ({ cdpUrl, connectPuppeteer }) => {
      const screencast = new Screencast();
      const album = new Album();
      screencast.start(album);
      const browser = await connectPuppeteer(cdpUrl, { screencast });
      const page = await browser.newPage();
      const url = 'data:text/html,<body style="margin:0"><input style="width:200px;height:50px">';
      await page.goto(url);
      await expect.poll(() => album.last(url)).toBeDefined();
      const picture = album.last(url);
      if (!picture) throw new Error('no picture');
      await (await browser.newPage()).goto(coloured('red'));
      const control = screencast.takeOver();
      const person = new Person(control, picture.target, picture);
      person.click({ x: 50, y: 25 });
      person.type('Jane');
      person.paste(' Doe');
      await expect.poll(() => page.evaluate(`document.querySelector('input').value`)).toBe('Jane Doe');
      // The page may close meanwhile.
      await page.close();
      await expect.poll(() => album.ended).toContain(picture.target);
      person.type('late');
      control.end();
    });
  });
}
