/**
 * A plugin of the build: of zod, bundles the messages in English only. `@hono/zod-openapi` takes all of zod, so that
 * nothing is shaken off: 66 languages, half a megabyte.
 */
export const zodInEnglish = {
  name: 'zod-in-english',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};
