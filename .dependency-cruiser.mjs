/** @type {import('dependency-cruiser').IConfiguration} */

/** Everything may import these. */
const BASE = ['errors', 'redact', 'printable', 'common'];

/** The rooms of src, and which others each may import. Imports point one way. */
const MAY_IMPORT = {
  redact: [],
  printable: [],
  errors: ['printable'],
  common: ['errors', 'redact', 'printable'],
  index: ['errors', 'options', 'record', 'clients', 'runners'],
  service: BASE,
  options: ['service', ...BASE],
  record: BASE,
  // Browsers that are not the service's.
  providers: ['record', 'options', 'service', ...BASE],
  broker: ['providers', 'record', 'options', 'service', ...BASE],
  cdp: BASE,
  // Optional parts of a run: what they plug into imports only their list.
  features: ['record', 'broker', 'cdp', 'options', ...BASE],
  // A separate server, and its protocol with workers.
  relay: ['cdp', 'options', ...BASE],
  clients: ['relay', 'features', 'record', 'broker', 'cdp', 'options', ...BASE],
  forecast: ['record', 'broker', 'options', ...BASE],
  report: ['forecast', 'record', 'broker', 'options', ...BASE],
  watch: ['broker', 'record', 'options', ...BASE],
  // The end of a run prints the summary when the reporter is not loaded.
  runners: ['report', 'clients', 'features', 'record', 'broker', 'options', 'service', ...BASE],
  emulator: ['service', ...BASE],
  cli: ['emulator', 'providers', 'relay', 'report', 'watch', 'record', 'broker', 'cdp', 'options', 'service', ...BASE],
};

/** The order inside a room, from the ground up: each of these directories and files imports only those before it. */
const FLOORS = {
  broker: [
    ...['rpc', 'browsers', 'log', 'ledger', 'pools', 'leases', 'acquire', 'config', 'recovery', 'feature'],
    ...['watch', 'features', 'run', 'server', 'main', 'start'],
  ],
  cdp: [
    ...[
      'message',
      'model',
      'transport',
      'page-code',
      'figures',
      'contexts',
      'files',
      'optional',
      'latency',
      'metering',
    ],
    ...['network', 'screencast', 'pipeline'],
  ],
  clients: ['shared', 'playwright', 'puppeteer'],
  runners: ['shared', 'jest', 'mocha', 'node-test', 'playwright-test', 'vitest'],
  emulator: [
    ...['api-error', 'host-check', 'fault-rule', 'options', 'browser-spec', 'disk', 'cdp', 'chromium', 'extensions'],
    ...['egress', 'running-browser', 'browser-launcher', 'faults', 'state', 'http', 'routes', 'server'],
    ...['start', 'index', 'main'],
  ],
  forecast: ['test-files', 'remaining-tests'],
  report: [
    ...[
      'summary',
      'timeline/data',
      'timeline/page/scale',
      'timeline',
      'live',
      'html-report',
      'publish',
      'test-results',
      'run-report',
    ],
    ...['run-reporter', 'local-browsers', 'watch', 'features', 'broker-updates', 'reporter', 'index'],
  ],
  record: [
    ...['bounds', 'fields', 'enums', 'run-record', 'attachment', 'record-file', 'session-record', 'test-record'],
    ...['failures', 'figures', 'read-records', 'test-usage', 'run-recorder', 'shards'],
  ],
  watch: ['messages', 'runs', 'page', 'server'],
  features: ['feature', 'evidence', 'film', 'hold', 'watch', 'list'],
  service: [
    ...['limits', 'session-types', 'schemas', 'http', 'endpoints', 'running-sessions', 'resources'],
    ...['client', 'index'],
  ],
  cli: [
    ...['confirm', 'npx-parent', 'numbers', 'print', 'progress', 'stop-signal', 'with-client'],
    ...['init', 'report', 'doctor', 'relay', 'watch', 'commands', 'run', 'main'],
  ],
};

/** A room: a directory, or a file beside them. */
const room = (name) => `^src/${name}(/|\\.ts$)`;

export default {
  forbidden: [
    { name: 'no-cycle', comment: 'Type-only imports included.', severity: 'error', from: {}, to: { circular: true } },
    ...Object.entries(MAY_IMPORT).map(([name, allowed]) => ({
      name: `${name}-imports-one-way`,
      comment: `src/${name} may import: ${allowed.join(', ') || 'nothing of src'}.`,
      severity: 'error',
      from: { path: room(name) },
      to: { path: '^src/', pathNot: [name, ...allowed].map(room) },
    })),
    ...Object.entries(FLOORS).flatMap(([name, floors]) => [
      {
        name: `${name}-lists-its-floors`,
        comment: `Add a new directory of src/${name} to FLOORS.`,
        severity: 'error',
        from: { path: `^src/${name}/`, pathNot: floors.map((floor) => room(`${name}/${floor}`)) },
        to: {},
      },
      ...floors.map((floor, index) => ({
        name: `${name}-${floor}-does-not-climb`,
        comment: `src/${name}/${floor} may import: ${floors.slice(0, index).join(', ') || 'nothing of its room'}.`,
        severity: 'error',
        from: { path: room(`${name}/${floor}`) },
        to: {
          path: `^src/${name}/`,
          pathNot: floors.slice(0, index + 1).map((below) => room(`${name}/${below}`)),
        },
      })),
    ]),
    {
      name: 'emulator-shares-schemas-only',
      severity: 'error',
      from: { path: room('emulator') },
      to: { path: '^src/service/', pathNot: '^src/service/(schemas/|limits\\.ts$|session-types\\.ts$)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
