import * as v from 'valibot';

/** The opener of a connection. */
export const roles = ['worker', 'control', 'observer'] as const;

/** `observer`: has another token, and may send only requests of features. */
export type Role = (typeof roles)[number];

/** One request of a protocol. */
interface CallSpec {
  /** The roles that may send it; null: all. */
  readonly roles: readonly Role[] | null;
  readonly params: v.GenericSchema;
  readonly result: v.GenericSchema;
}

/** The result of a request whose response contains nothing. */
export const nothing = v.pipe(
  v.unknown(),
  v.transform((): void => undefined),
);

/** The requests of a protocol, by their names. Both sides are derived from it. */
export type CallTable = Readonly<Record<string, CallSpec>>;

type Params<C extends CallSpec> = v.InferOutput<C['params']>;
type Result<C extends CallSpec> = v.InferOutput<C['result']>;

/** A protocol as the one who sends its requests sees it. */
export type Calls<T extends CallTable> = {
  readonly [Name in keyof T]: object extends Params<T[Name]>
    ? (params?: Params<T[Name]>) => Promise<Result<T[Name]>>
    : (params: Params<T[Name]>) => Promise<Result<T[Name]>>;
};

/** The calls of a protocol that one role may send, without those that everybody may. */
export type CallsOfRole<T extends CallTable, R extends Role> = Calls<{
  readonly [Name in keyof T as R extends NonNullable<T[Name]['roles']>[number] ? Name : never]: T[Name];
}>;

/** A protocol as the one who responds implements it. */
export type Handlers<T extends CallTable> = {
  readonly [Name in keyof T]: (params: Params<T[Name]>) => Result<T[Name]> | Promise<Result<T[Name]>>;
};

/** The handlers of any protocol. */
export type ErasedHandlers = Readonly<Record<string, (params: never) => unknown>>;

/** Sends a request and returns its result unchecked. */
export type Ask = (method: string, params: object) => Promise<unknown>;

/** Returns the calls of a table over a connection. They check each result. */
export function callsOver<T extends CallTable>(table: T, ask: Ask): Calls<T> {
  const calls = Object.entries(table).map(([name, { result }]) => [
    name,
    async (params: object = {}) => v.parse(result, await ask(name, params)),
  ]);
  return Object.fromEntries(calls) as Calls<T>;
}
