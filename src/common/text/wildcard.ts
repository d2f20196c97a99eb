/**
 * A test for whole texts by a pattern whose `*` stands for any characters. Each part of the pattern is looked for once,
 * behind the part before it. A regular expression with many `.*` takes time by a power of the text's length.
 */
export function wildcardTest(pattern: string): (text: string) => boolean {
  const [start = '', ...others] = pattern.split('*');
  const end = others.pop();
  if (end === undefined) return (text) => text === start;
  return (text) => {
    if (!text.startsWith(start)) return false;
    let at = start.length;
    for (const part of others) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - end.length >= at && text.endsWith(end);
  };
}
