import { type Browser, chromium } from '@playwright/test';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { allOnFullChromium, localChromium } from '../../support/local-chromium.ts';
import { slowIf } from '../../support/property-runs.ts';
import { requiresFound } from '../../support/requires.ts';

/** Each page's pixels depend on a switch of Chromium, or on the fonts and the display of the machine. */
const PAGES = {
  'a page that scrolls': `<div style="height:5000px;background:linear-gradient(red,blue)">x</div>`,
  'an element that scrolls': `<div style="overflow:scroll;width:200px;height:100px"><p style="height:900px">x</p></div>`,
  'hover and pointer': `<style>
    @media (hover: hover) { p { color: red } }
    @media (any-hover: hover) { p { border: 1px solid } }
    @media (pointer: fine) { p { background: yellow } }
    @media (any-pointer: fine) { p { margin: 50px } }
  </style><p>mouse</p>`,
  colors: `<div style="height:90px;background:color(display-p3 1 0.2 0.1)"></div><canvas id=c></canvas><script>
    const context = c.getContext('2d', { colorSpace: 'display-p3' });
    context.fillStyle = 'color(display-p3 0 1 0)';
    context.fillRect(0, 0, 50, 50);
  </script>`,
  text: `<body style="font:16px serif"><h1>WAVA To ffi</h1><p style="font:13px sans-serif">Tö</p><code>0O1l</code>`,
  forms: `<button>OK</button><select><option>one</select><input type=checkbox checked><input type=range>`,
  WebGL: `<canvas id=c></canvas><script>
    const gl = c.getContext('webgl', { preserveDrawingBuffer: true });
    gl.clearColor(.3, .6, .9, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
  </script>`,
};

async function picturesOf(browser: Browser, options: object): Promise<Map<string, Buffer>> {
  const context = await browser.newContext({ viewport: { width: 400, height: 300 }, ...options });
  const page = await context.newPage();
  const pictures = new Map<string, Buffer>();
  for (const [name, html] of Object.entries(PAGES)) {
    await page.setContent(html);
    pictures.set(name, await page.screenshot());
    pictures.set(`${name}, full page`, await page.screenshot({ fullPage: true }));
  }
  await context.close();
  return pictures;
}

for (const kind of ['headless shell', 'full Chromium']) {
  test.describe(kind, () => {
    test.use({ onFullChromium: kind === 'full Chromium' });

    test(
      'draws pages like the browser that Playwright starts',
      slowIf(kind === 'full Chromium'),
      async ({ start, connect, onFullChromium }) => {
        const { chromium: full } = await allOnFullChromium();
        requiresFound('full Chromium', !onFullChromium || full !== undefined);
        const { api } = await start();
        const emulated = await connect((await api.create()).body.cdpUrl);
        const executablePath = (onFullChromium ? full : undefined) ?? (await localChromium());
        const local = await chromium.launch({ executablePath });
        for (const options of [{}, { deviceScaleFactor: 2, colorScheme: 'dark' }]) {
          const [expected, actual] = [await picturesOf(local, options), await picturesOf(emulated, options)];
          for (const [name, picture] of expected) expect.soft(actual.get(name)?.equals(picture), name).toBe(true);
        }
        await local.close();
      },
    );
  });
}
