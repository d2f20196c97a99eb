import type { Control } from '../../../src/cdp/screencast/screencast.ts';
import type { KeyInput, Modifiers } from '../../../src/common/page/page-input.ts';

const NO_MODIFIERS: Modifiers = { alt: false, control: false, meta: false, shift: false };

/** `code` and `keyCode` of keys that are no letters. */
const KEYS: Readonly<Record<string, [string, number]>> = {
  Backspace: ['Backspace', 8],
  Tab: ['Tab', 9],
  Enter: ['Enter', 13],
  Shift: ['ShiftLeft', 16],
  Escape: ['Escape', 27],
  ' ': ['Space', 32],
  Home: ['Home', 36],
  ArrowLeft: ['ArrowLeft', 37],
  ArrowDown: ['ArrowDown', 40],
  '@': ['Digit2', 50],
  ł: ['KeyL', 76],
};

/** A place in the page, in CSS pixels. */
interface Place {
  x: number;
  y: number;
}

/** A person at the picture of a page, with the events that their own browser would report. */
export class Person {
  readonly #control: Control;
  readonly #target: string;
  readonly #size: { width: number; height: number };

  constructor(control: Control, target: string, size: { width: number; height: number }) {
    this.#control = control;
    this.#target = target;
    this.#size = size;
  }

  /** Presses and releases a key. */
  press(key: string, modifiers: Partial<Modifiers> = {}): void {
    const letter = key.toUpperCase();
    const [code, keyCode] = KEYS[key] ?? [`Key${letter}`, letter.charCodeAt(0)];
    const input: Omit<KeyInput, 'type'> = {
      kind: 'key',
      key,
      code,
      keyCode,
      modifiers: { ...NO_MODIFIERS, ...modifiers },
    };
    this.#control.input(this.#target, { ...input, type: 'down' });
    this.#control.input(this.#target, { ...input, type: 'up' });
  }

  type(text: string): void {
    for (const key of text) this.press(key, { shift: key !== key.toLowerCase() });
  }

  paste(text: string): void {
    this.#control.input(this.#target, { kind: 'text', text });
  }

  move(place: Place, buttons = 0): void {
    this.#mouse('move', place, 0, buttons, 0);
  }

  down(place: Place, clickCount = 1, button = 0): void {
    this.#mouse('down', place, button, button === 2 ? 2 : 1, clickCount);
  }

  up(place: Place, clickCount = 1, button = 0): void {
    this.#mouse('up', place, button, 0, clickCount);
  }

  click(place: Place, button = 0): void {
    this.move(place);
    this.down(place, 1, button);
    this.up(place, 1, button);
  }

  doubleClick(place: Place): void {
    this.click(place);
    this.down(place, 2);
    this.up(place, 2);
  }

  wheel(place: Place, deltaY: number): void {
    this.#control.input(this.#target, {
      kind: 'wheel',
      ...this.#fractions(place),
      deltaX: 0,
      deltaY,
      modifiers: NO_MODIFIERS,
    });
  }

  #mouse(type: 'down' | 'move' | 'up', place: Place, button: number, buttons: number, clickCount: number): void {
    const at = this.#fractions(place);
    this.#control.input(this.#target, {
      kind: 'mouse',
      type,
      ...at,
      button,
      buttons,
      clickCount,
      modifiers: NO_MODIFIERS,
    });
  }

  #fractions({ x, y }: Place): Place {
    return { x: x / this.#size.width, y: y / this.#size.height };
  }
}
