import * as z from 'zod';

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
export function knownKeys(schema: Schema, path: readonly PropertyKey[]): string[] {
  const keysOf = (each: Schema): string[] => {
    const current = bare(each);
    if (current instanceof z.ZodUnion) return current.options.flatMap(keysOf);
    return current instanceof z.ZodObject ? Object.keys(current.shape) : [];
  };
  return [...new Set(schemasAt(schema, path).flatMap(keysOf))];
}

/** Lower and upper bound of the number, or of the string's length, at `path`; null where there is none. */
export function boundsAt(schema: Schema, path: readonly PropertyKey[]): { min: number | null; max: number | null } {
  const [found] = schemasAt(schema, path);
  if (found instanceof z.ZodNumber) return { min: meaningful(found.minValue), max: meaningful(found.maxValue) };
  if (found instanceof z.ZodString) return { min: meaningful(found.minLength), max: meaningful(found.maxLength) };
  return { min: null, max: null };
}

/** Ignores the bounds of JavaScript's safe integers, which zod adds to whole numbers. */
function meaningful(bound: number | null): number | null {
  return bound !== null && Math.abs(bound) < Number.MAX_SAFE_INTEGER ? bound : null;
}
