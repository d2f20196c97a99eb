/** Headers in order, with values in wire text. */
export type HeaderList = readonly { name: string; value: string }[];

/** Headers by their names in lower case. */
export function byLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The first value of a header. @param wanted its name, in lower case */
export function headerOf(headers: HeaderList, wanted: string): string | undefined {
  return headers.find(({ name }) => name.toLowerCase() === wanted)?.value;
}
