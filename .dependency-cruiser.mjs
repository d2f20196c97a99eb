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
  // Where browsers come from: the service, addresses, a user's module.
  providers: ['record', 'options', 'service', 'cdp', ...BASE],
  // Knows the service only as one of its providers.
  broker: ['providers', 'record', 'options', ...BASE],
  cdp: BASE,
  // Optional parts of a run: what they plug into imports only their list.
  features: ['record', 'broker', 'cdp', 'options', ...BASE],
  // A separate server, and its protocol with workers.
  relay: ['cdp', 'options', ...BASE],
  clients: ['relay', 'features', 'record', 'broker', 'cdp', 'options', ...BASE],
  report: ['record', 'broker', 'options', ...BASE],
  watch: ['broker', 'record', 'options', ...BASE],
  // The end of a run prints the summary when the reporter is not loaded.
  runners: ['report', 'clients', 'features', 'record', 'broker', 'options', 'service', ...BASE],
  // Browsers for other tools.
  endpoint: ['runners', 'clients', 'features', 'record', 'broker', 'cdp', 'options', ...BASE],
  emulator: ['service', ...BASE],
  cli: [
    'endpoint',
    'emulator',
    'providers',
    'relay',
    'report',
    'watch',
    'record',
    'broker',
    'cdp',
    'options',
    'service',
    ...BASE,
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
    {
      name: 'emulator-shares-schemas-only',
      severity: 'error',
      from: { path: room('emulator') },
      to: { path: '^src/service/', pathNot: '^src/service/(schemas/|limits\\.ts$)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
