// Functions that `RemoteObject` runs in a page, with its object as their first argument. The browser stores blobs
// outside the page's heap.

/** A list for pieces of files. */
export const newList = (_of: unknown): unknown[] => [];

/** Adds pieces to their files, each by the file's position. */
export function addPieces(files: Blob[][], pieces: [number, string][]): void {
  for (const [at, base64] of pieces) {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = text.charCodeAt(index);
    files[at] ??= [];
    files[at].push(new Blob([bytes]));
  }
}

export function choose(input: HTMLInputElement, pieces: Blob[][], files: ({ name: string } & FilePropertyBag)[]): void {
  const transfer = new DataTransfer();
  files.forEach(({ name, ...options }, at) => {
    transfer.items.add(new File(pieces[at] ?? [], name, options));
  });
  input.files = transfer.files;
}

/**
 * Gives files of a directory the properties that the browser would give them. Until then, a file's name is its path in
 * the directory: forms send that, and so does a local browser.
 */
export function nameFiles(input: HTMLInputElement, names: string[]): void {
  for (const [at, file] of filesOf(input).entries()) {
    Object.defineProperty(file, 'webkitRelativePath', { value: file.name, configurable: true });
    Object.defineProperty(file, 'name', { value: names[at], configurable: true });
  }
}

/** As if a user had chosen the files. */
export function report(input: HTMLInputElement): void {
  input.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  input.dispatchEvent(new Event('change', { bubbles: true }));
}

type WaitingInput = HTMLInputElement & { chosen: Promise<unknown> };

/** An input for files. */
export function newInput(): HTMLInputElement {
  const input = Object.assign(document.createElement('input'), { type: 'file', multiple: true }) as WaitingInput;
  input.chosen = new Promise((resolve) => {
    input.onchange = resolve;
  });
  return input;
}

/** The types of the files that are being set on an input. */
export async function types(input: WaitingInput): Promise<string[]> {
  await input.chosen;
  return filesOf(input).map(({ type }) => type);
}

/** In bytes. */
export const sizeOf = (input: HTMLInputElement): number | undefined => filesOf(input)[0]?.size;

/** The file that was set on an input, with a type that is sent as bytes, never as text. */
export function bytesOf(input: HTMLInputElement, size: number): Blob | undefined {
  return filesOf(input)[0]?.slice(0, size, 'application/octet-stream');
}

const filesOf = (input: HTMLInputElement) => [...(input.files ?? [])];
