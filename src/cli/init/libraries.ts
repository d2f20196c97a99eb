/**
 * The libraries of `init`: as an entry of the build they get a separate file, which only `init` loads and the build
 * minifies.
 */
export { createTwoFilesPatch } from 'diff';
export { applyEdits, modify } from 'jsonc-parser';
export { type Agent, detect, resolveCommand } from 'package-manager-detector';
export { globSync } from 'tinyglobby';
