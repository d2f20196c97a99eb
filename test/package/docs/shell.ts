/** The part of a shell's syntax that the documentation uses: words, quotes, comments, several commands per line. */

const WORD = /"([^"]*)"|'([^']*)'|([^\s"'#|&;<>][^\s"'|&;<>]*)/y;
const BETWEEN = /[|&;]+/y;
const SPACE = /\s+/y;
const REDIRECTION = /[<>]+\s*\S+/y;

/**
 * Returns the commands of a script as words, without variables before a command.
 * @throws Error for unsupported syntax
 */
export function commandsOf(script: string): string[][] {
  const commands: string[][] = [];
  for (const line of script.replaceAll('\\\n', ' ').split('\n')) {
    let words: string[] = [];
    let at = 0;
    const eat = (pattern: RegExp) => {
      pattern.lastIndex = at;
      const match = pattern.exec(line);
      if (match) at = pattern.lastIndex;
      return match;
    };
    const end = () => {
      if (words.length > 0) commands.push(words);
      words = [];
    };
    while (at < line.length && line[at] !== '#') {
      if (eat(SPACE) || eat(REDIRECTION)) continue;
      if (eat(BETWEEN)) {
        end();
        continue;
      }
      const word = eat(WORD);
      if (!word) throw new Error(`not a command: ${line}`);
      const text = word[1] ?? word[2] ?? word[3] ?? '';
      if (words.length > 0 || !/^[A-Z_]+=/.test(text)) words.push(text);
    }
    end();
  }
  return commands;
}
