/** Whether an address is a file's. */
export function isFile(url: string): boolean {
  return url.startsWith('file:///');
}
