/** Whether `DEBUG` asks for this name, written like `DEBUG=pw:*`. */
export function debugEnabled(name: string, debug: string | undefined): boolean {
  return (debug ?? '').split(/[\s,]+/).some((pattern) => {
    if (pattern === '') return false;
    return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  });
}
