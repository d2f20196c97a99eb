import { element } from '../../../common/page/dom.ts';
import type { Modifiers, PageInput } from '../../../common/page/page-input.ts';
import { MAX_TEXT } from '../../messages.ts';

/** Lines and pages in pixels, for mice that scroll by these. */
const WHEEL_UNITS = [1, 16, 400];

/**
 * Covers a picture and takes mouse, wheel and keyboard for the page in it. It is a text field, so that input methods,
 * the clipboard and keyboards on screens work.
 */
export class TakeOver {
  readonly root = element('textarea', {
    class: 'take-over',
    'aria-label': 'The page. It gets your keyboard; Ctrl+Shift+Enter gives it back.',
    autocapitalize: 'off',
    autocomplete: 'off',
    spellcheck: 'false',
    hidden: '',
  });
  readonly #send: (input: PageInput) => void;
  readonly #onLeave: () => void;
  /** Keys that are down, as they are released when the keyboard leaves. */
  readonly #keys = new Map<string, PageInput>();
  #move: PageInput | null = null;
  #pressed: MouseEvent | null = null;

  /** @param onLeave focuses another element */
  constructor(send: (input: PageInput) => void, onLeave: () => void) {
    this.#send = send;
    this.#onLeave = onLeave;
    this.#listenToKeyboard();
    this.#listenToText();
    this.#listenToMouse();
  }

  set isOn(isOn: boolean) {
    if (this.root.hidden !== isOn) return;
    const hadFocus = document.activeElement === this.root;
    this.root.hidden = !isOn;
    if (hadFocus) this.#onLeave();
  }

  #listenToKeyboard(): void {
    this.root.addEventListener('keydown', (event) => {
      event.stopPropagation();
      if (isWayOut(event)) {
        event.preventDefault();
        this.#onLeave();
      } else if (isAltGraph(event)) {
        event.preventDefault();
        this.#type(event.key);
      } else if (!isComposing(event) && !isPaste(event)) {
        event.preventDefault();
        this.#keys.set(event.code, keyInput('up', event));
        this.#send(keyInput('down', event));
      }
    });
    this.root.addEventListener('keyup', (event) => {
      event.preventDefault();
      if (this.#keys.delete(event.code)) this.#send(keyInput('up', event));
    });
    this.root.addEventListener('blur', () => {
      for (const up of this.#keys.values()) this.#send(up);
      this.#keys.clear();
    });
  }

  #listenToText(): void {
    const flush = () => {
      this.#type(this.root.value);
      this.root.value = '';
    };
    this.root.addEventListener('input', (event) => {
      if (!(event instanceof InputEvent && event.isComposing)) flush();
    });
    this.root.addEventListener('compositionend', flush);
    this.root.addEventListener('paste', (event) => {
      event.preventDefault();
      this.#type(event.clipboardData?.getData('text/plain') ?? '');
    });
    // A file or a link would replace this page.
    for (const type of ['dragover', 'drop'] as const)
      this.root.addEventListener(type, (event) => event.preventDefault());
  }

  #type(text: string): void {
    for (const input of textInputs(text)) this.#send(input);
  }

  #listenToMouse(): void {
    this.root.addEventListener('mousedown', (event) => {
      event.preventDefault();
      this.root.focus({ preventScroll: true });
      this.#pressed = event;
      this.#mouse('down', event);
    });
    this.root.addEventListener('mousemove', (event) => {
      if (!this.#pressed) this.#moveTo(event);
    });
    // A button that is pressed here may be released elsewhere, after a drag.
    window.addEventListener('mousemove', (event) => {
      if (this.#pressed) this.#moveTo(event);
    });
    window.addEventListener('mouseup', (event) => {
      if (!this.#pressed) return;
      if (event.buttons === 0) this.#pressed = null;
      this.#mouse('up', event);
    });
    this.root.addEventListener('contextmenu', (event) => event.preventDefault());
    this.root.addEventListener('wheel', (event) => this.#scroll(event), { passive: false });
  }

  /** At most one per frame. */
  #moveTo(event: MouseEvent): void {
    const isScheduled = this.#move !== null;
    this.#move = this.#mouseInput('move', event);
    if (!isScheduled) requestAnimationFrame(() => this.#flushMove());
  }

  #flushMove(): void {
    if (this.#move) this.#send(this.#move);
    this.#move = null;
  }

  #mouse(type: 'down' | 'up', event: MouseEvent): void {
    this.#flushMove();
    this.#send(this.#mouseInput(type, event));
  }

  #mouseInput(type: 'down' | 'move' | 'up', event: MouseEvent): PageInput {
    const { button, buttons, detail } = event;
    const clickCount = type === 'move' ? 0 : Math.max(1, Math.min(detail, 3));
    const modifiers = modifiersOf(event);
    return { kind: 'mouse', type, ...this.#position(event), button, buttons, clickCount, modifiers };
  }

  #scroll(event: WheelEvent): void {
    event.preventDefault();
    const { deltaX, deltaY, deltaMode } = event;
    const unit = WHEEL_UNITS[deltaMode] ?? 1;
    const modifiers = modifiersOf(event);
    this.#send({ kind: 'wheel', ...this.#position(event), deltaX: deltaX * unit, deltaY: deltaY * unit, modifiers });
  }

  /** As fractions of the picture. */
  #position({ clientX, clientY }: MouseEvent): { x: number; y: number } {
    const { left, top, width, height } = this.root.getBoundingClientRect();
    const within = (share: number) => Math.max(0, Math.min(1, share));
    return { x: within((clientX - left) / width), y: within((clientY - top) / height) };
  }
}

/** Events of this page as input of another one. */

function modifiersOf(event: KeyboardEvent | MouseEvent): Modifiers {
  return { alt: event.altKey, control: event.ctrlKey, meta: event.metaKey, shift: event.shiftKey };
}

function keyInput(type: 'down' | 'up', event: KeyboardEvent): PageInput {
  const { key, code, keyCode } = event;
  return { kind: 'key', type, key, code, keyCode, modifiers: modifiersOf(event) };
}

/** Whether a key composes text: an input method or a dead key. The text comes by itself. */
function isComposing({ isComposing, key, keyCode }: KeyboardEvent): boolean {
  return isComposing || key === 'Dead' || key === 'Process' || key === 'Unidentified' || keyCode === 229;
}

/** Whether a key types a character together with AltGr, which looks like Ctrl and Alt. */
function isAltGraph(event: KeyboardEvent): boolean {
  return event.key.length === 1 && event.getModifierState('AltGraph');
}

/** Ctrl+V, or ⌘V: its text comes with the event `paste`. */
function isPaste({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'v' && ctrlKey !== metaKey && !altKey;
}

/** The keys that give the keyboard back. Escape and Tab go to the page. */
function isWayOut({ key, ctrlKey, shiftKey }: KeyboardEvent): boolean {
  return key === 'Enter' && ctrlKey && shiftKey;
}

/** A text as inputs of limited length, without dividing a character. */
function textInputs(text: string): PageInput[] {
  const inputs: PageInput[] = [];
  let part = '';
  for (const character of text) {
    if (part.length + character.length > MAX_TEXT) {
      inputs.push({ kind: 'text', text: part });
      part = '';
    }
    part += character;
  }
  if (part !== '') inputs.push({ kind: 'text', text: part });
  return inputs;
}
