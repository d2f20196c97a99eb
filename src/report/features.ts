/** What the reporter can do without, one line each. */
export { BalancedShards as shards } from './shards/balanced-shards.ts';
export { WatchedTests as watch } from './watch/watched-tests.ts';
