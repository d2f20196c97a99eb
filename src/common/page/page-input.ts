/**
 * What a person does in a page on hold, as they see it in its picture. Sent by the watch page, done by the transport.
 * Positions are fractions of the picture, 0 to 1.
 */
export type PageInput = PointerInput | KeyInput | TextInput;

export type PointerInput = MouseInput | WheelInput;

export interface MouseInput {
  kind: 'mouse';
  type: 'down' | 'move' | 'up';
  x: number;
  y: number;
  /** As in `MouseEvent`. */
  button: number;
  buttons: number;
  clickCount: number;
  modifiers: Modifiers;
}

export interface WheelInput {
  kind: 'wheel';
  x: number;
  y: number;
  deltaX: number;
  deltaY: number;
  modifiers: Modifiers;
}

/** As in `KeyboardEvent`. */
export interface KeyInput {
  kind: 'key';
  type: 'down' | 'up';
  key: string;
  code: string;
  keyCode: number;
  modifiers: Modifiers;
}

/** Text from an input method or the clipboard. */
export interface TextInput {
  kind: 'text';
  text: string;
}

export interface Modifiers {
  alt: boolean;
  control: boolean;
  meta: boolean;
  shift: boolean;
}

/** Size of a page's visible part, in CSS pixels. */
export interface PageSize {
  width: number;
  height: number;
}
