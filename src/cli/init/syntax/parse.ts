import { errorMessage } from '../../../common/error-message.ts';
import { type ParserPlugin, parseSource } from '../libraries.ts';

export type Program = ReturnType<typeof parseSource>['program'];
export type Statement = Program['body'][number];
export type Expression = Extract<Statement, { type: 'ExpressionStatement' }>['expression'];
export type ObjectLiteral = Extract<Expression, { type: 'ObjectExpression' }>;

/** A source file that was parsed. Offsets of its nodes are into `text`. */
export interface Parsed {
  text: string;
  program: Program;
  comments: { start: number; end: number; text: string }[];
}

/** `why` ends a sentence that begins with the file's name. */
export interface Unparsed {
  why: string;
}

/**
 * Parses JavaScript or TypeScript.
 * @param file its name decides on the syntax: types in `.ts`, `.mts` and `.cts`
 */
export function parse(text: string, file: string): Parsed | Unparsed {
  const typed = /\.[cm]?tsx?$/.test(file);
  const plugins: ParserPlugin[] = ['decorators', 'explicitResourceManagement', typed ? 'typescript' : 'jsx'];
  try {
    return parseAs('module', text, plugins);
  } catch (error) {
    try {
      // A script that strict mode refuses.
      return parseAs('script', text, plugins);
    } catch {
      return { why: `cannot be parsed: ${errorMessage(error)}` };
    }
  }
}

function parseAs(sourceType: 'module' | 'script', text: string, plugins: ParserPlugin[]): Parsed {
  const { program, comments } = parseSource(text, {
    sourceType,
    plugins,
    allowReturnOutsideFunction: true,
    createParenthesizedExpressions: true,
    attachComment: false,
  });
  const spans = (comments ?? []).map(span);
  return { text, program, comments: spans.map(([start, end]) => ({ start, end, text: text.slice(start, end) })) };
}

/**
 * Where a node begins and ends in the text. The parser gives both to every node; its types allow for nodes made by
 * hand.
 */
export function span(node: { start?: number | null; end?: number | null }): [start: number, end: number] {
  return [node.start ?? 0, node.end ?? 0];
}
