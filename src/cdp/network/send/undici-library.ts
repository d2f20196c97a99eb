/** A module of a bundled library alone: its built part is minified (scripts/build-plugins/commonjs.mjs). */
export { buildConnector, Pool } from 'undici';
