/** Whether an address is one of a file. */
export function isFile(url: string): boolean {
  return url.startsWith('file:///');
}
