/**
 * What `init` needs of others, in one place: the package has it as one file, which is loaded by `init` alone. A parser in full
 * would be the largest part of the package, so that file is minified.
 */
export { type ParserPlugin, parse as parseSource } from '@babel/parser';
export { createTwoFilesPatch } from 'diff';
export { default as MagicString } from 'magic-string';
export { type Agent, detect, resolveCommand } from 'package-manager-detector';
export { globSync } from 'tinyglobby';
