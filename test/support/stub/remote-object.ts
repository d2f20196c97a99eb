import type { StubWorld } from './stub-world.ts';

/** A value as CDP's `Runtime.RemoteObject`. */
export function remoteObject(value: unknown, byValue: boolean, world: StubWorld): object {
  const type = value === null ? 'object' : typeof value;
  if (value === undefined) return { type };
  if (value === null) return { type, subtype: 'null', value };
  if (typeof value === 'bigint') return unserializable(type, `${value}n`);
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) {
    return unserializable(type, Object.is(value, -0) ? '-0' : String(value));
  }
  if (typeof value !== 'object' && typeof value !== 'function' && typeof value !== 'symbol') return { type, value };
  if (byValue) return { type, value: typeof value === 'object' ? value : {} };
  const description = describe(value);
  return { type, subtype: subtypeOf(value), className: className(value), description, objectId: world.keep(value) };
}

/** What was thrown, as CDP's `Runtime.ExceptionDetails`. */
export function exceptionDetails(thrown: unknown, world: StubWorld): object {
  const exception = isError(thrown)
    ? { type: 'object', subtype: 'error', className: thrown.name, description: thrown.stack ?? thrown.message }
    : remoteObject(thrown, false, world);
  return { exceptionId: 1, text: 'Uncaught', lineNumber: 0, columnNumber: 0, exception };
}

function unserializable(type: string, text: string): object {
  return { type, unserializableValue: text, description: text };
}

/** Errors of other worlds are not instances of this world's classes. */
function isError(value: unknown): value is Error {
  return Object.prototype.toString.call(value) === '[object Error]';
}

function subtypeOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return 'array';
  if (isError(value)) return 'error';
  return Object.prototype.toString.call(value) === '[object Promise]' ? 'promise' : undefined;
}

function className(value: object | symbol | ((...args: never) => unknown)): string {
  return typeof value === 'symbol' ? 'Symbol' : (value.constructor?.name ?? 'Object');
}

function describe(value: object | symbol | ((...args: never) => unknown)): string {
  if (Array.isArray(value)) return `Array(${value.length})`;
  if (isError(value)) return value.stack ?? value.message;
  return typeof value === 'object' ? className(value) : String(value);
}
