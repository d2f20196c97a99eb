/** What merging can do without, one line each. */
export { mergedShards as shards } from './shards/merged-shards.ts';
