import type { Page } from '@playwright/test';
import { Screencast } from '../../../src/cdp/screencast/screencast.ts';
import { expect, test } from '../../support/cdp/fixtures.ts';
import { Person } from '../../support/cdp/person.ts';
import { Album } from '../../support/cdp/pictures.ts';
import { slowIf } from '../../support/property-runs.ts';

/** A person controls a page of Playwright's through its picture. */

const FORM = `data:text/html,${encodeURIComponent(`<!doctype html><title>form</title>
<style>body { margin: 0; height: 4000px } * { position: absolute; box-sizing: border-box } input, textarea, select, button, a { width: 200px; height: 30px; left: 20px }</style>
<input id="name" style="top: 20px">
<textarea id="text" style="top: 60px; height: 60px"></textarea>
<select id="colour" style="top: 140px"><option>red<option>lime<option>blue</select>
<button id="ok" style="top: 180px">OK</button>
<input id="slider" type="range" style="top: 240px" min="0" max="100" value="50">
<p id="word" style="top: 280px; margin: 0">onlyword</p>
<script>
  window.seen = [];
  for (const type of ['click', 'dblclick', 'contextmenu', 'auxclick']) addEventListener(type, (event) => {
    if (type !== 'contextmenu') seen.push(type + ' ' + event.target.id + (event.isTrusted ? '' : ' untrusted'));
    else { event.preventDefault(); seen.push(type); }
  });
  for (const type of ['keydown', 'keyup']) addEventListener(type, (event) => seen.push(
    [type, event.key, event.code, event.keyCode, event.ctrlKey && 'control', event.altKey && 'alt', event.shiftKey && 'shift'].filter(Boolean).join(' ')));
</script>`)}`;

const PLACES = {
  name: { x: 120, y: 35 },
  text: { x: 120, y: 90 },
  colour: { x: 120, y: 155 },
  ok: { x: 120, y: 195 },
  slider: { x: 120, y: 255 },
  word: { x: 40, y: 288 },
};

const seen = (page: Page) => page.evaluate<string[]>('seen.splice(0)');

for (const onFullChromium of [false, true]) {
  // A person types in full Chromium in puppeteer.spec.ts.
  test.describe(onFullChromium ? 'full Chromium' : 'headless shell', slowIf(onFullChromium), () => {
    test.use({ onFullChromium });

    test('types, edits, pastes and moves between fields', async ({ connectThrough }) => {
      const { page, person, end } = await controlled(connectThrough, FORM);
      person.click(PLACES.name);
      person.type('Jane Doex');
      person.press('Backspace');
      await expect(page.locator('#name')).toHaveValue('Jane Doe');
      person.press('ArrowLeft');
      person.press('Home', { shift: true });
      person.type('X');
      await expect(page.locator('#name')).toHaveValue('Xe');
      // Also with a Mac's key.
      for (const modifier of ['control', 'meta']) {
        person.press('a', { [modifier]: true });
        person.type(modifier);
        await expect(page.locator('#name')).toHaveValue(modifier);
      }
      person.press('Tab');
      person.type('one');
      person.press('Enter');
      person.paste('zwei €\nthree 🦊');
      await expect(page.locator('#text')).toHaveValue('one\nzwei €\nthree 🦊');
      person.press('Tab', { shift: true });
      await expect(page.locator('#name')).toBeFocused();
      end();
      await page.context().browser()?.close();
    });

    test('reports keys to the page as a keyboard does', async ({ connectThrough }) => {
      const { page, person, end } = await controlled(connectThrough, FORM);
      person.click(PLACES.name);
      await expect(page.locator('#name')).toBeFocused();
      await seen(page);
      person.press('Shift', { shift: true });
      person.type('A');
      person.press('Escape');
      person.press('k', { control: true });
      // AltGr and a Mac's Option type characters.
      person.press('@', { control: true, alt: true });
      person.press('ł', { alt: true });
      person.press('q', { alt: true });
      await expect(page.locator('#name')).toHaveValue('A@ł');
      await expect.poll(() => page.evaluate<number>('seen.length')).toBe(14);
      expect(await seen(page)).toEqual([
        'keydown Shift ShiftLeft 16 shift',
        'keyup Shift ShiftLeft 16 shift',
        'keydown A KeyA 65 shift',
        'keyup A KeyA 65 shift',
        'keydown Escape Escape 27',
        'keyup Escape Escape 27',
        'keydown k KeyK 75 control',
        'keyup k KeyK 75 control',
        'keydown @ Digit2 50',
        'keyup @ Digit2 50 control alt',
        expect.stringMatching(/^keydown ł/),
        expect.stringMatching(/^keyup ł/),
        'keydown q KeyQ 81 alt',
        'keyup q KeyQ 81 alt',
      ]);
      end();
      await page.context().browser()?.close();
    });

    test('clicks, double-clicks, drags, chooses and scrolls', async ({ connectThrough }) => {
      const { page, person, end } = await controlled(connectThrough, FORM);
      person.click(PLACES.ok);
      await expect.poll(() => seen(page)).toEqual(['click ok']);
      person.click(PLACES.ok, 2);
      await expect.poll(() => page.evaluate('seen.length')).toBe(2);
      expect(await seen(page)).toEqual(['contextmenu', 'auxclick ok']);
      person.doubleClick(PLACES.word);
      await expect.poll(() => page.evaluate('seen.length')).toBe(3);
      expect(await seen(page)).toEqual(['click word', 'click word', 'dblclick word']);
      expect(await page.evaluate('getSelection().toString()')).toBe('onlyword');
      person.move(PLACES.slider);
      person.down(PLACES.slider);
      for (let x = 120; x <= 215; x += 5) person.move({ x, y: 255 }, 1);
      person.up({ x: 215, y: 255 });
      await expect.poll(async () => Number(await page.locator('#slider').inputValue())).toBeGreaterThan(90);
      person.click(PLACES.colour);
      person.press('ArrowDown');
      person.press('Enter');
      await expect(page.locator('#colour')).toHaveValue('lime');
      person.wheel({ x: 400, y: 300 }, 700);
      await expect.poll(() => page.evaluate('scrollY')).toBe(700);
      end();
      await page.context().browser()?.close();
    });

    test('finds the place on an emulated phone', async ({ connectThrough }) => {
      const phone = { viewport: { width: 390, height: 700 }, isMobile: true, deviceScaleFactor: 2 };
      const { page, person, end, album } = await controlled(connectThrough, FORM, phone);
      expect(album.pictures.at(-1)).toMatchObject({ width: 980, height: 1759 });
      person.click(PLACES.ok);
      await expect.poll(() => seen(page)).toEqual(['click ok']);
      end();
      await page.context().browser()?.close();
    });

    test('reaches frames of other sites', async ({ connectThrough, site }) => {
      const { page, person, end } = await controlled(connectThrough, FORM);
      const other = new URL(site.url);
      other.hostname = other.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
      await page.goto(site.url);
      await page.locator('body').evaluate((element, address) => {
        element.innerHTML = `<iframe src="${address}" style="position: fixed; left: 100px; top: 300px; width: 400px; height: 200px">`;
      }, other.href);
      const body = page.frameLocator('iframe').locator('body');
      await body.evaluate((element) => {
        element.innerHTML = '<input style="position: fixed; left: 0; top: 0; width: 200px; height: 50px">';
      });
      await body.locator('input').click({ trial: true });
      person.click({ x: 150, y: 330 });
      await expect(body.locator('input')).toBeFocused();
      person.type('ins');
      person.paste('ide');
      await expect(body.locator('input')).toHaveValue('inside');
      end();
      await page.context().browser()?.close();
    });

    test('does not wait behind a dialog, and answers it', async ({ connectThrough }) => {
      const { page, person, end } = await controlled(connectThrough, FORM);
      // Playwright leaves dialogs alone while a listener is set.
      page.on('dialog', () => undefined);
      for (const [key, answer] of [
        ['Enter', true],
        ['Escape', false],
      ] as const) {
        await page.evaluate(`document.querySelector('#ok').onclick = () => { window.answer = confirm('sure?') }`);
        const dialog = page.waitForEvent('dialog');
        person.click(PLACES.ok);
        await dialog;
        person.type('lost');
        person.press(key);
        await expect.poll(() => page.evaluate('window.answer')).toBe(answer);
      }
      end();
      await page.context().browser()?.close();
    });

    test('answers a dialog that was open before', async ({ connectThrough }) => {
      const { page, person, end } = await controlled(connectThrough, FORM);
      page.on('dialog', () => undefined);
      const dialog = page.waitForEvent('dialog');
      await page.evaluate(`setTimeout(() => { window.answer = confirm('sure?') })`);
      await dialog;
      person.press('Enter');
      await expect.poll(() => page.evaluate('window.answer')).toBe(true);
      end();
      await page.context().browser()?.close();
    });

    test('leaves no pressed button behind, and takes no input after the end', async ({ connectThrough }) => {
      const { page, person, end, album } = await controlled(connectThrough, FORM);
      await page.evaluate(`for (const type of ['mousedown', 'mouseup']) addEventListener(type, () => seen.push(type))`);
      person.down(PLACES.word);
      person.move({ x: 300, y: 300 }, 1);
      await expect.poll(() => seen(page)).toEqual(['mousedown']);
      end();
      await expect.poll(() => page.evaluate('seen[0]')).toBe('mouseup');
      person.click(PLACES.name);
      person.type('late');
      await page.screenshot();
      await expect(page.locator('#name')).toHaveValue('');
      // Pictures go on.
      await page.goto('data:text/html,<title>next</title><body>next');
      await expect.poll(() => album.last(page.url())).toBeDefined();
      await page.context().browser()?.close();
    });
  });
}

type Connect = (options: { screencast: Screencast }) => Promise<{ browser: import('@playwright/test').Browser }>;

/** A page under a person's control, who has seen a picture of it. */
async function controlled(
  connect: Connect,
  url: string,
  options: import('@playwright/test').BrowserContextOptions = { viewport: { width: 800, height: 600 } },
) {
  const screencast = new Screencast();
  const { browser } = await connect({ screencast });
  const page = await (await browser.newContext(options)).newPage();
  await page.goto(url);
  const album = new Album();
  screencast.start(album);
  await expect.poll(() => album.last(url)).toBeDefined();
  const picture = album.last(url);
  if (!picture) throw new Error('no picture');
  const control = screencast.takeOver();
  return { page, album, person: new Person(control, picture.target, picture), end: () => control.end() };
}
