import { closest, distance } from 'fastest-levenshtein';
import * as z from 'zod';
import { got, isHidden } from './text/shown-fields.ts';

/** Describes zod's issues to the user. */

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

/**
 * Checks `value` and gives it back typed.
 * @throws the error that `makeError` creates from the problems (one line each, see {@link describeIssues}).
 */
export function parseOrThrow<S extends z.ZodType>(
  schema: S,
  value: unknown,
  makeError: (problems: string[]) => Error,
): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw makeError(describeIssues(result.error, value, schema));
}

/**
 * Every problem as one line: the path, what was expected (with its bounds), what came. Unknown keys come with the
 * nearest key known there. Secrets in values are not shown.
 * @param value the checked value
 * @param schema its schema
 */
export function describeIssues(error: z.ZodError, value: unknown, schema: z.ZodType): string[] {
  return error.issues.flatMap((issue) => describeIssue(issue, issue.path, value, schema));
}

function describeIssue(issue: Issue, path: Path, root: unknown, schema: z.ZodType): string[] {
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(schema, path);
    return issue.keys.map((key) => line([...path, key], unknownKey(key, known)));
  }
  const value = valueAt(root, path);
  if (issue.code === 'invalid_union') {
    const branch = bestBranch(issue.errors);
    if (branch && !isOtherValue(branch))
      return branch.flatMap((inner) => describeIssue(inner, [...path, ...inner.path], root, schema));
    const all = issue.errors.flatMap((inner) => inner.flatMap((each) => expectedType(each) ?? []));
    // A text with a typing error was not meant as an object.
    const expected = branch ? all.filter((each) => each !== TYPE_NAMES.object) : all;
    return [line(path, `must be ${[...new Set(expected)].join(' or ')}${gotAt(path, value)}`)];
  }
  if (value === undefined) return [line(path, `is required: ${expectedType(issue) ?? lowerFirst(issue.message)}`)];
  return [line(path, `${expectation(issue, path, schema)}${gotAt(path, value)}`)];
}

/** Of a union's branches the one the value was meant for: it has the right type, and the fewest problems. */
function bestBranch(branches: Issue[][]): Issue[] | undefined {
  const wrongType = (issue: Issue) => issue.path.length === 0 && issue.code === 'invalid_type';
  return branches
    .filter((branch) => !branch.some(wrongType))
    .sort((a, b) => Number(isOtherValue(a)) - Number(isOtherValue(b)) || a.length - b.length)[0];
}

/** Whether the value is a text or number, but none of those that this branch knows. */
function isOtherValue(branch: Issue[]): boolean {
  return branch.every((issue) => issue.path.length === 0 && issue.code === 'invalid_value');
}

function expectedType(issue: Issue): string | undefined {
  if (issue.code === 'invalid_type') return TYPE_NAMES[issue.expected] ?? issue.expected;
  if (issue.code === 'invalid_value') return oneOf(issue.values);
  return undefined;
}

function expectation(issue: Issue, path: Path, schema: z.ZodType): string {
  switch (issue.code) {
    case 'invalid_type':
    case 'invalid_value':
      return `must be ${expectedType(issue)}`;
    case 'too_small':
      return bound(issue.origin, issue.inclusive === false ? '>' : '≥', issue.minimum, path, schema);
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? '<' : '≤', issue.maximum, path, schema);
    default:
      return lowerFirst(issue.message);
  }
}

function bound(origin: string, sign: string, limit: number | bigint, path: Path, schema: z.ZodType): string {
  const { min, max } = boundsAt(schema, path);
  const range = min !== null && max !== null ? ` (${min} to ${max})` : '';
  if (origin === 'string') return `must have ${sign} ${limit} characters${range}`;
  if (origin === 'array') return `must have ${sign} ${limit} entries`;
  return `must be ${sign} ${limit}${range}`;
}

function unknownKey(key: string, known: string[]): string {
  if (known.length === 0) return 'unknown key';
  const nearest = closest(
    key.toLowerCase(),
    known.map((each) => each.toLowerCase()),
  );
  const name = known.find((each) => each.toLowerCase() === nearest) ?? nearest;
  const near = distance(key.toLowerCase(), nearest) <= Math.max(2, Math.floor(name.length / 3));
  return near ? `unknown key, did you mean \`${name}\`?` : `unknown key; known keys: ${known.join(', ')}`;
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.map((value) => JSON.stringify(value) ?? String(value));
  return shown.length === 1 ? (shown[0] ?? '') : `one of ${shown.join(', ')}`;
}

/** The nearest name decides, except below a field that is hidden as a whole. */
function gotAt(path: Path, value: unknown): string {
  const names = path.filter((key) => typeof key === 'string');
  return got(names.find((name) => isHidden(name)) ?? names.at(-1) ?? '', value);
}

function line(path: Path, text: string): string {
  return path.length === 0 ? text : `\`${formatPath(path)}\`: ${text}`;
}

function formatPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text ? `${text}.${String(key)}` : String(key);
  }, '');
}

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (value instanceof Object ? Reflect.get(value, key) : undefined), root);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Walks zod schemas: the schema at a path, and the known keys of an object. */

type Schema = z.core.$ZodType;

/** `schema` without the wrappers that change neither its keys nor its bounds. */
function bare(schema: Schema): Schema {
  let current = schema;
  while (
    current instanceof z.ZodOptional ||
    current instanceof z.ZodNullable ||
    current instanceof z.ZodDefault ||
    current instanceof z.ZodReadonly
  ) {
    current = current.unwrap();
  }
  return current;
}

function step(schema: Schema, key: PropertyKey): Schema[] {
  const current = bare(schema);
  if (current instanceof z.ZodUnion) return current.options.flatMap((option) => step(option, key));
  if (current instanceof z.ZodArray) return typeof key === 'number' ? [current.element] : [];
  if (current instanceof z.ZodObject) {
    const field: Schema | undefined = typeof key === 'string' ? current.shape[key] : undefined;
    return field ? [field] : [];
  }
  return [];
}

/**
 * The schemas that may stand at `path`; more than one where a union is on the way, none where the path leaves the
 * schema.
 */
function schemasAt(schema: Schema, path: readonly PropertyKey[]): Schema[] {
  return path.reduce<Schema[]>((schemas, key) => schemas.flatMap((each) => step(each, key)), [schema]).map(bare);
}

/** The keys an object may have at `path`. */
function knownKeys(schema: Schema, path: readonly PropertyKey[]): string[] {
  const keysOf = (each: Schema): string[] => {
    const current = bare(each);
    if (current instanceof z.ZodUnion) return current.options.flatMap(keysOf);
    return current instanceof z.ZodObject ? Object.keys(current.shape) : [];
  };
  return [...new Set(schemasAt(schema, path).flatMap(keysOf))];
}

/** Lower and upper bound of the number, or of the string's length, at `path`; null where there is none. */
function boundsAt(schema: Schema, path: readonly PropertyKey[]): { min: number | null; max: number | null } {
  const [found] = schemasAt(schema, path);
  if (found instanceof z.ZodNumber) return { min: meaningful(found.minValue), max: meaningful(found.maxValue) };
  if (found instanceof z.ZodString) return { min: meaningful(found.minLength), max: meaningful(found.maxLength) };
  return { min: null, max: null };
}

/** Ignores the bounds of JavaScript's safe integers, which zod adds to whole numbers. */
function meaningful(bound: number | null): number | null {
  return bound !== null && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? bound : null;
}
