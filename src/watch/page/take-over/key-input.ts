import type { Modifiers, PageInput } from '../../../common/page/page-input.ts';
import { MAX_TEXT } from '../../messages.ts';

/** Events of this page as input of another one. */

export function modifiersOf(event: KeyboardEvent | MouseEvent): Modifiers {
  return { alt: event.altKey, control: event.ctrlKey, meta: event.metaKey, shift: event.shiftKey };
}

export function keyInput(type: 'down' | 'up', event: KeyboardEvent): PageInput {
  const { key, code, keyCode } = event;
  return { kind: 'key', type, key, code, keyCode, modifiers: modifiersOf(event) };
}

/** Whether a key composes text: an input method or a dead key. The text comes by itself. */
export function isComposing({ isComposing, key, keyCode }: KeyboardEvent): boolean {
  return isComposing || key === 'Dead' || key === 'Process' || key === 'Unidentified' || keyCode === 229;
}

/** Whether a key types a character together with AltGr, which looks like Ctrl and Alt. */
export function isAltGraph(event: KeyboardEvent): boolean {
  return event.key.length === 1 && event.getModifierState('AltGraph');
}

/** Ctrl+V, or ⌘V: its text comes with the event `paste`. */
export function isPaste({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'v' && ctrlKey !== metaKey && !altKey;
}

/** The keys that give the keyboard back. Escape and Tab go to the page. */
export function isWayOut({ key, ctrlKey, shiftKey }: KeyboardEvent): boolean {
  return key === 'Enter' && ctrlKey && shiftKey;
}

/** A text as inputs of limited length, without dividing a character. */
export function textInputs(text: string): PageInput[] {
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
