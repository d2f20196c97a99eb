import type { Protocol } from 'devtools-protocol';
import type {
  KeyInput,
  Modifiers,
  MouseInput,
  PageInput,
  PageSize,
  PointerInput,
} from '../../common/page/page-input.ts';
import type { Target } from '../model/session.ts';
import type { InterceptorTransport } from '../transport/interceptor.ts';
import type { BrowserSession } from './browser-session.ts';

/** CDP's names for `MouseEvent.button`. */
const BUTTONS: readonly Protocol.Input.MouseButton[] = ['left', 'middle', 'right', 'back', 'forward'];

/** The same for the bits of `MouseEvent.buttons`, in the order of the bits. */
const PRESSED: readonly Protocol.Input.MouseButton[] = ['left', 'right', 'middle', 'back', 'forward'];

const TYPES = { down: 'mousePressed', move: 'mouseMoved', up: 'mouseReleased' } as const;

/** How many inputs wait for the session at most. */
const MAX_WAITING = 100;

/** A page that a person controls, through a separate session. Inputs reach the page in their order. */
export class ControlledPage {
  readonly #transport: InterceptorTransport;
  readonly #browser: BrowserSession;
  readonly #target: Target;
  readonly #size: () => PageSize | undefined;
  #sessionId: string | undefined;
  #opening: Promise<void> | undefined;
  #hasEnded = false;
  readonly #waiting: PageInput[] = [];
  /** Whether the browser has not yet confirmed the last movement, and the newest one since. */
  #moves = false;
  #nextMove: MouseInput | undefined;
  /** The last thing done with the mouse. */
  #mouse: MouseInput | undefined;

  /** @param size the page's size as its pictures show it; undefined without a picture */
  constructor(
    transport: InterceptorTransport,
    browser: BrowserSession,
    target: Target,
    size: () => PageSize | undefined,
  ) {
    this.#transport = transport;
    this.#browser = browser;
    this.#target = target;
    this.#size = size;
  }

  input(input: PageInput): void {
    if (this.#hasEnded) return;
    if (this.#sessionId === undefined) {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(input);
      // It fails for a page that has just closed.
      this.#opening ??= this.#open().catch(() => this.end());
    } else {
      this.#send(input, this.#sessionId);
    }
  }

  /** Releases pressed mouse buttons and ends the session. */
  end(): void {
    this.#hasEnded = true;
    const sessionId = this.#sessionId;
    if (sessionId === undefined || !this.#transport.model.session(sessionId)) return;
    const { buttons = 0 } = this.#mouse ?? {};
    for (const [button, bit] of [1, 4, 2].entries()) {
      if (!this.#mouse || (buttons & bit) === 0) continue;
      this.#post({ ...this.#mouse, type: 'up', button, buttons: 0, clickCount: 1 }, sessionId);
    }
    this.#browser.detach(sessionId);
  }

  async #open(): Promise<void> {
    const sessionId = await this.#browser.attach(this.#target.id);
    if (this.#hasEnded) return this.#browser.detach(sessionId);
    // Its dialogs are reported then, also if the client does not want to know of them.
    this.#transport.post('Page.enable', {}, sessionId);
    this.#sessionId = sessionId;
    for (const input of this.#waiting.splice(0)) this.#send(input, sessionId);
  }

  #send(input: PageInput, sessionId: string): void {
    // A page with a dialog takes no input, and the dialog is in no picture.
    const { dialogSession } = this.#target;
    if (dialogSession) this.#answerDialog(input, dialogSession.id);
    else if (input.kind === 'mouse' && input.type === 'move') this.#move(input, sessionId);
    else this.#post(input, sessionId);
  }

  #post(input: PageInput, sessionId: string): void {
    const move = this.#nextMove;
    this.#nextMove = undefined;
    if (move) this.#postMouse(move, sessionId);
    if (input.kind === 'key') this.#transport.post('Input.dispatchKeyEvent', keyEvent(input), sessionId);
    else if (input.kind === 'text') this.#transport.post('Input.insertText', { text: input.text }, sessionId);
    else this.#postMouse(input, sessionId);
  }

  /** At most one movement is on its way: on a slow connection, the pointer must not lag behind. */
  #move(input: MouseInput, sessionId: string): void {
    if (this.#moves) {
      this.#nextMove = input;
      return;
    }
    const event = this.#eventOf(input);
    if (!event) return;
    this.#moves = true;
    this.#transport
      .call('Input.dispatchMouseEvent', event, sessionId)
      // Rejects when the page closes.
      .catch(() => undefined)
      .finally(() => {
        this.#moves = false;
        const next = this.#nextMove;
        this.#nextMove = undefined;
        if (next) this.input(next);
      });
  }

  #postMouse(input: PointerInput, sessionId: string): void {
    const event = this.#eventOf(input);
    if (event) this.#transport.post('Input.dispatchMouseEvent', event, sessionId);
  }

  #eventOf(input: PointerInput): Protocol.Input.DispatchMouseEventRequest | undefined {
    const size = this.#size();
    if (!size) return undefined;
    if (input.kind === 'mouse') this.#mouse = input;
    return mouseEvent(input, size);
  }

  #answerDialog(input: PageInput, sessionId: string): void {
    if (input.kind !== 'key' || input.type !== 'down') return;
    const { key } = input;
    if (key === 'Enter' || key === 'Escape') {
      this.#transport.post('Page.handleJavaScriptDialog', { accept: key === 'Enter' }, sessionId);
    }
  }
}

/** The browser's event for what a person does with the mouse. */
function mouseEvent(input: PointerInput, size: PageSize): Protocol.Input.DispatchMouseEventRequest {
  const position = {
    x: pixel(input.x, size.width),
    y: pixel(input.y, size.height),
    modifiers: modifierBits(input.modifiers),
  };
  if (input.kind === 'wheel') return { type: 'mouseWheel', deltaX: input.deltaX, deltaY: input.deltaY, ...position };
  const { type, button, buttons, clickCount } = input;
  return {
    type: TYPES[type],
    button: (type === 'move' ? PRESSED.find((_, bit) => (buttons & (1 << bit)) !== 0) : BUTTONS[button]) ?? 'none',
    buttons,
    clickCount: type === 'move' ? 0 : clickCount,
    ...position,
  };
}

function pixel(fraction: number, length: number): number {
  return Math.min(Math.max(fraction, 0) * length, Math.max(0, length - 1));
}

/** Commands of an editor, for browsers whose platform has other shortcuts: a Mac's Chromium does not know Control+A. */
const EDITOR_COMMANDS: ReadonlyMap<string, string> = new Map([
  ['a', 'selectAll'],
  ['c', 'copy'],
  ['x', 'cut'],
  ['y', 'redo'],
  ['z', 'undo'],
]);

function modifierBits({ alt, control, meta, shift }: Modifiers): number {
  return (alt ? 1 : 0) + (control ? 2 : 0) + (meta ? 4 : 0) + (shift ? 8 : 0);
}

/** The browser's event for a key, whatever keyboard and platform the person has. */
function keyEvent(input: KeyInput): Protocol.Input.DispatchKeyEventRequest {
  const { type, key, code, keyCode } = input;
  const text = type === 'down' ? textOf(input) : undefined;
  const modifiers = modifiersOf(input, text);
  const { control, alt } = modifiers;
  const command = type === 'down' && control && !alt ? EDITOR_COMMANDS.get(key.toLowerCase()) : undefined;
  return {
    type: type === 'up' ? 'keyUp' : text === undefined ? 'rawKeyDown' : 'keyDown',
    key,
    code,
    windowsVirtualKeyCode: keyCode,
    modifiers: modifierBits(modifiers),
    isKeypad: code.startsWith('Numpad'),
    ...(text !== undefined && { text, unmodifiedText: text }),
    ...(command !== undefined && { commands: [command] }),
  };
}

/** The text that a key types, if any. */
function textOf({ key, code, modifiers: { alt, control, meta } }: KeyInput): string | undefined {
  if (key === 'Enter') return control || alt || meta ? undefined : '\r';
  const [character, more] = key;
  if (character === undefined || more !== undefined || meta) return undefined;
  // AltGr is Control with Alt on Windows, and Option types on a Mac. Alt with the key's own letter is a shortcut.
  if (alt) return code.toLowerCase() === `key${key.toLowerCase()}` ? undefined : key;
  return control ? undefined : key;
}

/**
 * Modifiers that helped to type a character are used up: the browser would take them for a shortcut. A Mac's Command is
 * Control elsewhere.
 */
function modifiersOf({ key, modifiers }: KeyInput, text: string | undefined): Modifiers {
  if (text !== undefined) return { ...modifiers, alt: false, control: false };
  const isShortcut = modifiers.meta && !modifiers.control && key.length === 1;
  return isShortcut ? { ...modifiers, meta: false, control: true } : modifiers;
}
