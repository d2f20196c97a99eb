/**
 * A plugin of the build: of undici, bundles the HTTP client only. Without `fetch`, web sockets, caches and mocks it
 * loads in half the time. A name that is not exported here fails the build.
 */
export const undiciClient = {
  name: 'undici-client',
  setup(build) {
    build.onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'undici-client' }));
    build.onLoad({ filter: /.*/, namespace: 'undici-client' }, () => ({
      resolveDir: import.meta.dirname,
      contents: `
        import api from 'undici/lib/api/index.js';
        import buildConnector from 'undici/lib/core/connect.js';
        import Agent from 'undici/lib/dispatcher/agent.js';
        import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
        import Pool from 'undici/lib/dispatcher/pool.js';
        Object.assign(Dispatcher.prototype, api); // \`request\` and the like, as undici's own entry does it
        export { Agent, buildConnector, Pool };
      `,
    }));
  },
};
