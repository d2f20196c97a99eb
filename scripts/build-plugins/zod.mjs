/**
 * A plugin of the build: of zod's messages, bundles the English ones only. `@hono/zod-openapi` uses zod as a whole, so
 * esbuild would keep all languages, which have 365 kB.
 */
export const zodInEnglish = {
  name: 'zod-in-english',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};
