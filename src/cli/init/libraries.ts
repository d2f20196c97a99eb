/**
 * The libraries of `init`, in one place: as an entry of the build they get a separate file, which only `init` loads. A
 * parser in full would be the largest part of the package, so the build minifies that file.
 */
export { type ParserPlugin, parse as parseSource } from '@babel/parser';
export { createTwoFilesPatch } from 'diff';
export { default as MagicString } from 'magic-string';
export { type Agent, detect, resolveCommand } from 'package-manager-detector';
export { globSync } from 'tinyglobby';
