import type { Protocol } from 'devtools-protocol';
import type { KeyInput, Modifiers } from '../../../common/page/page-input.ts';

/** Commands of an editor, for browsers whose platform has other shortcuts: a Mac's Chromium does not know Control+A. */
const EDITOR_COMMANDS: Readonly<Record<string, string>> = {
  a: 'selectAll',
  c: 'copy',
  x: 'cut',
  y: 'redo',
  z: 'undo',
};

/** The bits that CDP has for them. */
export function modifierBits({ alt, control, meta, shift }: Modifiers): number {
  return (alt ? 1 : 0) + (control ? 2 : 0) + (meta ? 4 : 0) + (shift ? 8 : 0);
}

/** The browser's event for a key, whatever keyboard and platform the person has. */
export function keyEvent(input: KeyInput): Protocol.Input.DispatchKeyEventRequest {
  const { type, key, code, keyCode } = input;
  const text = type === 'down' ? textOf(input) : undefined;
  const modifiers = modifiersOf(input, text);
  const { control, alt } = modifiers;
  const command = type === 'down' && control && !alt ? EDITOR_COMMANDS[key.toLowerCase()] : undefined;
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
