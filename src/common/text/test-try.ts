/** One try of a test, as runner and workers both name it. @param id Playwright's ID of the test */
export function testTry(id: string, retry: number): string {
  return `${id}:${retry}`;
}
