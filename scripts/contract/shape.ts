import * as z from 'zod';

/** The parts of a JSON schema that are compared with another one. */
export interface Shape {
  /** `string`, `integer`, `null` …; empty: anything. */
  types: ReadonlySet<string>;
  /** The only values allowed; null: no such list. */
  values: readonly unknown[] | null;
  /** Bounds of a number, or of a string's length. */
  min: number | null;
  max: number | null;
  properties: ReadonlyMap<string, Shape>;
  required: ReadonlySet<string>;
  /** Refuses properties that it does not name. */
  isClosed: boolean;
  items: Shape | null;
}

const bound = z.number().optional().catch(undefined);
const schemaFields = z.looseObject({
  $ref: z.string().optional().catch(undefined),
  type: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .catch(undefined),
  nullable: z.boolean().optional().catch(undefined),
  enum: z.array(z.unknown()).optional().catch(undefined),
  const: z.unknown().optional(),
  minimum: bound,
  maximum: bound,
  // OpenAPI 3.0 says with true that `minimum` itself is not allowed; 3.1 gives the number.
  exclusiveMinimum: z.union([z.boolean(), z.number()]).optional().catch(undefined),
  exclusiveMaximum: z.union([z.boolean(), z.number()]).optional().catch(undefined),
  minLength: bound,
  maxLength: bound,
  properties: z.record(z.string(), z.unknown()).optional().catch(undefined),
  required: z.array(z.string()).optional().catch(undefined),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  allOf: z.array(z.unknown()).optional().catch(undefined),
  anyOf: z.array(z.unknown()).optional().catch(undefined),
  oneOf: z.array(z.unknown()).optional().catch(undefined),
});

const ANYTHING: Shape = {
  types: new Set(),
  values: null,
  min: null,
  max: null,
  properties: new Map(),
  required: new Set(),
  isClosed: false,
  items: null,
};
/**
 * @param schema a JSON schema; anything else, and a schema inside itself, allows any value
 * @param document the target of its references
 * @param inside the references that led here
 */
export function shapeOf(schema: unknown, document: unknown, inside: readonly string[] = []): Shape {
  const { success, data } = schemaFields.safeParse(schema);
  if (!success) return ANYTHING;
  const { $ref: reference } = data;
  if (reference !== undefined) {
    if (inside.includes(reference)) return ANYTHING;
    return shapeOf(resolve(reference, document), document, [...inside, reference]);
  }
  const below = (inner: unknown) => shapeOf(inner, document, inside);
  const own = ownShape(data, below);
  const parts = (data.allOf ?? []).map(below);
  const choices = [...(data.anyOf ?? []), ...(data.oneOf ?? [])].map(below);
  return [...parts, ...(choices.length > 0 ? [choices.reduce(either)] : [])].reduce(both, own);
}

/** What a local reference (`#/components/…`) points at; null when that is not there. */
export function resolve(reference: string, document: unknown): unknown {
  const path = decoded(reference);
  if (!path?.startsWith('#/')) return null;
  const keys = path.slice(2).split('/');
  return keys.reduce<unknown>((at, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof at === 'object' && at !== null ? Object.getOwnPropertyDescriptor(at, name)?.value : null;
  }, document);
}

/** Null for an invalid percent-encoding. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function ownShape(schema: z.output<typeof schemaFields>, below: (inner: unknown) => Shape): Shape {
  const { type, nullable, properties = {}, required = [], additionalProperties, items } = schema;
  const types = type === undefined ? [] : [type].flat();
  return {
    types: new Set(nullable && types.length > 0 ? [...types, 'null'] : types),
    values: schema.const !== undefined ? [schema.const] : (schema.enum ?? null),
    min: lowest(schema.minimum, schema.exclusiveMinimum) ?? schema.minLength ?? null,
    max: highest(schema.maximum, schema.exclusiveMaximum) ?? schema.maxLength ?? null,
    properties: new Map(Object.entries(properties).map(([name, inner]) => [name, below(inner)])),
    required: new Set(required),
    isClosed: additionalProperties === false,
    items: items === undefined ? null : below(items),
  };
}

/** Whole numbers are meant: where a bound is not allowed itself, the next one is. */
function lowest(minimum: number | undefined, exclusive: boolean | number | undefined): number | null {
  if (typeof exclusive === 'number') return exclusive + 1;
  return minimum === undefined || isNobodys(minimum) ? null : minimum + (exclusive === true ? 1 : 0);
}

function highest(maximum: number | undefined, exclusive: boolean | number | undefined): number | null {
  if (typeof exclusive === 'number') return exclusive - 1;
  return maximum === undefined || isNobodys(maximum) ? null : maximum - (exclusive === true ? 1 : 0);
}

/** The language's own bound on whole numbers, which zod writes out. */
function isNobodys(bound: number): boolean {
  return Math.abs(bound) >= Number.MAX_SAFE_INTEGER;
}

/** What fits one of the two. */
function either(a: Shape, b: Shape): Shape {
  // Null has no bounds, and takes none away.
  if (isNull(a)) return { ...b, types: b.types.size === 0 ? b.types : new Set([...b.types, 'null']) };
  if (isNull(b)) return either(b, a);
  const isAny = a.types.size === 0 || b.types.size === 0;
  return {
    types: isAny ? new Set() : new Set([...a.types, ...b.types]),
    values: a.values && b.values ? [...a.values, ...b.values] : null,
    min: a.min === null || b.min === null ? null : Math.min(a.min, b.min),
    max: a.max === null || b.max === null ? null : Math.max(a.max, b.max),
    properties: merged(a, b, either),
    required: new Set([...a.required].filter((name) => b.required.has(name))),
    isClosed: a.isClosed && b.isClosed,
    items: a.items && b.items ? either(a.items, b.items) : (a.items ?? b.items),
  };
}

function isNull({ types }: Shape): boolean {
  return types.size === 1 && types.has('null');
}

/** What fits both. */
function both(a: Shape, b: Shape): Shape {
  const shared = [...a.types].filter((type) => b.types.has(type));
  return {
    types: new Set(a.types.size === 0 ? b.types : b.types.size === 0 ? a.types : shared),
    values: a.values ?? b.values,
    min: a.min === null ? b.min : Math.max(a.min, b.min ?? a.min),
    max: a.max === null ? b.max : Math.min(a.max, b.max ?? a.max),
    properties: merged(a, b, both),
    required: new Set([...a.required, ...b.required]),
    isClosed: a.isClosed || b.isClosed,
    items: a.items && b.items ? both(a.items, b.items) : (a.items ?? b.items),
  };
}

function merged(a: Shape, b: Shape, how: (a: Shape, b: Shape) => Shape): Map<string, Shape> {
  const all = new Map([...b.properties, ...a.properties]);
  for (const [name, shape] of a.properties) {
    const other = b.properties.get(name);
    if (other) all.set(name, how(shape, other));
  }
  return all;
}
