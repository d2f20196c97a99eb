// Functions that `RemoteObject` runs in a page, with its object as their first argument. The browser stores blobs
// outside the page's heap.

/** A list of files, or of a file's pieces. */
export const newList = (_of: unknown): unknown[] => [];

export function addPiece(pieces: Blob[], base64: string): void {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = text.charCodeAt(at);
  pieces.push(new Blob([bytes]));
}

export function addFile(files: File[], pieces: Blob[], name: string, options: FilePropertyBag): void {
  files.push(new File(pieces, name, options));
}

/** As if a user had chosen them. */
export function choose(input: HTMLInputElement, files: File[]): void {
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  input.files = transfer.files;
  input.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  input.dispatchEvent(new Event('change', { bubbles: true }));
}

/** With a type that has no extension: Chromium would append one to names without. */
export function urls(files: File[]): string[] {
  return files.map((file) => URL.createObjectURL(new Blob([file], { type: 'application/octet-stream' })));
}

export function download(files: File[], from: string[]): void {
  const frame = document.body.appendChild(document.createElement('iframe'));
  files.forEach((file, index) => {
    const link = (frame.contentDocument as Document).createElement('a');
    link.href = from[index] as string;
    link.download = file.name;
    link.click();
  });
}

export function letGo(_files: File[], from: string[]): void {
  for (const url of from) URL.revokeObjectURL(url);
  document.querySelector('iframe')?.remove();
}

type WaitingInput = HTMLInputElement & { chosen: Promise<unknown> };

/** An input for a file or a directory. */
export function newInput({ webkitdirectory }: { webkitdirectory: boolean }): HTMLInputElement {
  const input = Object.assign(document.createElement('input'), { type: 'file', webkitdirectory }) as WaitingInput;
  input.chosen = new Promise((resolve) => {
    input.oncancel = resolve;
    input.onchange = resolve;
  });
  return input;
}

/** Paths of the files in the directory that was set on an input. */
export async function chosen(input: WaitingInput): Promise<string[]> {
  await input.chosen;
  return filesOf(input).map((file) => file.webkitRelativePath);
}

/** In bytes. */
export const sizeOf = (input: HTMLInputElement): number | undefined => filesOf(input)[0]?.size;

/** The file that was set on an input, with a type that is sent as bytes, never as text. */
export function bytesOf(input: HTMLInputElement, size: number): Blob | undefined {
  return filesOf(input)[0]?.slice(0, size, 'application/octet-stream');
}

const filesOf = (input: HTMLInputElement) => [...(input.files ?? [])];
