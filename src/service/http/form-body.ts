import { randomUUID } from 'node:crypto';

/** A form with one file in it (`multipart/form-data`, RFC 7578), never in memory as a whole. */
export interface FormBody {
  /** Name of the part, plain ASCII. */
  name: string;
  /** Media type of the part. */
  type: string;
  filename: string;
  /** Bytes of the file. */
  size: number;
  /** Reads the file from its beginning: each request opens it again. */
  open: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** The form as a request's headers and body. */
export function encodeForm(form: FormBody): { headers: Record<string, string>; body: AsyncIterable<Uint8Array> } {
  const boundary = `poolwright-${randomUUID()}`;
  const disposition = `form-data; name="${form.name}"; filename="${quotable(form.filename)}"`;
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${form.type}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const headers = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(head.length + form.size + tail.length),
  };
  return { headers, body: join(head, form, tail) };
}

async function* join(head: Buffer, form: FormBody, tail: Buffer): AsyncGenerator<Uint8Array> {
  yield head;
  yield* form.open();
  yield tail;
}

/** As browsers write a file name into the header. */
function quotable(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
