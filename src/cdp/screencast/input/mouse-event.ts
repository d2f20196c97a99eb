import type { Protocol } from 'devtools-protocol';
import type { PageSize, PointerInput } from '../../../common/page/page-input.ts';
import { modifierBits } from './key-event.ts';

/** CDP's names for `MouseEvent.button`. */
const BUTTONS: readonly Protocol.Input.MouseButton[] = ['left', 'middle', 'right', 'back', 'forward'];
/** The same for the bits of `MouseEvent.buttons`, in the order of the bits. */
const PRESSED: readonly Protocol.Input.MouseButton[] = ['left', 'right', 'middle', 'back', 'forward'];
const TYPES = { down: 'mousePressed', move: 'mouseMoved', up: 'mouseReleased' } as const;

/** The browser's event for what a person does with the mouse. */
export function mouseEvent(input: PointerInput, size: PageSize): Protocol.Input.DispatchMouseEventRequest {
  const place = {
    x: pixel(input.x, size.width),
    y: pixel(input.y, size.height),
    modifiers: modifierBits(input.modifiers),
  };
  if (input.kind === 'wheel') return { type: 'mouseWheel', deltaX: input.deltaX, deltaY: input.deltaY, ...place };
  const { type, button, buttons, clickCount } = input;
  return {
    type: TYPES[type],
    button: (type === 'move' ? PRESSED.find((_, bit) => (buttons & (1 << bit)) !== 0) : BUTTONS[button]) ?? 'none',
    buttons,
    clickCount: type === 'move' ? 0 : clickCount,
    ...place,
  };
}

/** A place within the page. */
function pixel(fraction: number, length: number): number {
  return Math.min(Math.max(fraction, 0) * length, Math.max(0, length - 1));
}
