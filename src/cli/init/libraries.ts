/**
 * The libraries of `init`, in one place: as an entry of the build they get a separate file, which only `init` loads. A
 * parser in full would be the largest part of the package, so the build minifies that file.
 */
export { createTwoFilesPatch } from 'diff';
export { applyEdits, modify } from 'jsonc-parser';
export { type Agent, detect, resolveCommand } from 'package-manager-detector';
export { globSync } from 'tinyglobby';
