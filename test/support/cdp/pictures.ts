import { expect } from '@playwright/test';
import type { Picture, PictureOptions, PictureReceiver } from '../../../src/cdp/screencast/screencast.ts';

/** A small size, at a pace that a test does not wait for. */
const SMALL: PictureOptions = { maxWidth: 320, maxHeight: 240, quality: 60, perSecond: 20 };

/** Evaluates an expression in a page: Playwright's or Puppeteer's. */
interface Evaluates {
  evaluate(expression: string): Promise<unknown>;
}

/** Keeps what it gets. */
export class Album implements PictureReceiver {
  readonly options: PictureOptions;
  readonly pictures: Picture[] = [];
  readonly ended: string[] = [];
  /** Receiving takes as long as this. */
  busy: Promise<void> = Promise.resolve();

  constructor(options: Partial<PictureOptions> = {}) {
    this.options = { ...SMALL, ...options };
  }

  async onPicture(picture: Picture): Promise<void> {
    this.pictures.push(picture);
    await this.busy;
  }

  onPageEnd(target: string): void {
    this.ended.push(target);
  }

  /** The newest picture of an address. */
  last(url: string): Picture | undefined {
    return this.pictures.findLast((picture) => picture.url === url);
  }

  /** Waits until the newest picture of an address has this colour in its middle. */
  async shows(page: Evaluates, url: string, colour: keyof typeof COLOURS): Promise<void> {
    await expect
      .poll(async () => distance(await middleOf(page, this.last(url)), COLOURS[colour]), { timeout: 20_000 })
      .toBeLessThan(20);
  }
}

const COLOURS = { red: [255, 0, 0], lime: [0, 255, 0], blue: [0, 0, 255] };

/** The address of a page of one colour. */
export function coloured(colour: keyof typeof COLOURS): string {
  return `data:text/html,<title>${colour}</title><body style="background:${colour}">`;
}

/** A page that never stops changing. */
export const MOVING = `data:text/html,<body><script>let n = 0;
(function draw() { document.body.style.background = 'hsl(' + n++ + ', 80%, 50%)'; requestAnimationFrame(draw); })()</script>`;

/** The colour and the size of a picture, as a browser decodes it. */
export async function decoded(page: Evaluates, picture: Picture) {
  const value = await page.evaluate(`(async () => {
    const image = new Image();
    image.src = 'data:image/jpeg;base64,${picture.data}';
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const pixel = context.getImageData(image.width / 2, image.height / 2, 1, 1).data;
    return [image.width, image.height, ...pixel];
  })()`);
  const [width = 0, height = 0, ...colour] = value as number[];
  return { width, height, colour: colour.slice(0, 3) };
}

async function middleOf(page: Evaluates, picture: Picture | undefined): Promise<number[]> {
  return picture ? (await decoded(page, picture)).colour : [];
}

/** The largest difference in a channel: JPEG does not keep colours exactly. */
function distance(one: number[], other: number[]): number {
  return Math.max(...other.map((value, channel) => Math.abs(value - (one[channel] ?? 1_000))));
}
