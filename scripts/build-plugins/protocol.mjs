import { readFile } from 'node:fs/promises';

/**
 * Leaves out the descriptions in the JSON of the Chrome DevTools Protocol: they are three quarters of it.
 * @type {import('esbuild').Plugin}
 */
export const protocolWithoutDescriptions = {
  name: 'protocol-without-descriptions',
  setup({ onLoad }) {
    onLoad({ filter: /devtools-protocol[\\/]json[\\/]\w+\.json$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      // Parameters may be named `description`, too.
      const contents = JSON.stringify(JSON.parse(text), (key, value) =>
        key === 'description' && typeof value === 'string' ? undefined : value,
      );
      return { contents, loader: 'json' };
    });
  },
};
