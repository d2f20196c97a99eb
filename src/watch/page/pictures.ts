import type { SlotView } from '../../broker/watch/view.ts';
import type { PictureHeader } from '../messages.ts';
import { isEmptyPage } from './texts.ts';

export interface Picture extends PictureHeader {
  bitmap: ImageBitmap;
}

/** The latest picture of each page of each slot. */
export class Pictures {
  readonly #bySlot = new Map<string, Map<string, Picture>>();

  async add(header: PictureHeader, jpeg: Blob): Promise<void> {
    const bitmap = await createImageBitmap(jpeg);
    const key = keyOf(header.run, header.slot);
    const ofSlot = this.#bySlot.get(key) ?? new Map<string, Picture>();
    this.#bySlot.set(key, ofSlot);
    ofSlot.get(header.target)?.bitmap.close();
    ofSlot.set(header.target, { ...header, bitmap });
  }

  get(run: string, slot: number, target: string | undefined): Picture | undefined {
    return target === undefined ? undefined : this.#bySlot.get(keyOf(run, slot))?.get(target);
  }

  /** The page of a tile: the one that opened last, of those that have a picture. Empty pages come last. */
  shownTarget(run: string, { slot, pages }: SlotView): string | undefined {
    const ofSlot = this.#bySlot.get(keyOf(run, slot)) ?? new Map<string, Picture>();
    const known = pages.filter(({ target }) => ofSlot.has(target));
    const targets = known.length > 0 ? known.map(({ target }) => target) : [...ofSlot.keys()];
    return targets.findLast((target) => !isEmptyPage(ofSlot.get(target)?.url ?? '')) ?? targets.at(-1);
  }

  keep(run: string, { slot, pages, sessionId }: SlotView): void {
    const ofSlot = this.#bySlot.get(keyOf(run, slot));
    for (const [target, { bitmap }] of ofSlot ?? []) {
      if (sessionId !== null && (pages.length === 0 || pages.some((page) => page.target === target))) continue;
      bitmap.close();
      ofSlot?.delete(target);
    }
  }
}

function keyOf(run: string, slot: number): string {
  return `${slot} ${run}`;
}

const drawn = new WeakMap<HTMLCanvasElement, ImageBitmap>();

/** Draws a picture, unless it is drawn already; without one, the canvas is hidden. */
export function draw(canvas: HTMLCanvasElement, picture: Picture | undefined): void {
  canvas.hidden = !picture;
  if (!picture || drawn.get(canvas) === picture.bitmap) return;
  const { bitmap } = picture;
  drawn.set(canvas, bitmap);
  if (canvas.width !== bitmap.width) canvas.width = bitmap.width;
  if (canvas.height !== bitmap.height) canvas.height = bitmap.height;
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
}
