/**
 * What users may import, as `exports` of package.json says: code only, no JSON.
 * @returns {{ name: string, types: string, import?: string, require?: string, hasCommonJsTypes: boolean }[]} paths from
 * the package's directory
 */
export function entriesOf({ name, exports }) {
  return Object.entries(exports)
    .filter(([, target]) => typeof target === 'object')
    .map(([subpath, target]) => {
      const [esm, cjs] = [targetOf(target, 'import'), targetOf(target, 'require')];
      return {
        name: subpath === '.' ? name : name + subpath.slice(1),
        types: (esm ?? cjs)?.types,
        import: esm?.default,
        require: cjs?.default,
        hasCommonJsTypes: cjs?.types !== undefined,
      };
    });
}

/** The files under one condition; a plain `default` is for both. */
function targetOf(target, condition) {
  const found = target[condition] ?? (target.default ? target : undefined);
  return typeof found === 'string' ? { default: found } : found;
}
