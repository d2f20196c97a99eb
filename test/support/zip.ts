import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** A file's text, or text and the file mode in the ZIP. */
export type ZipContent = string | Buffer | { text: string; mode: number };

/** Creates a ZIP with these files. */
export async function zip(files: Record<string, ZipContent>): Promise<Buffer> {
  const file = new ZipFile();
  for (const [name, content] of Object.entries(files)) {
    if (Buffer.isBuffer(content)) file.addBuffer(content, name);
    // A compressor takes 0.4 ms of processor time, and some ZIPs have ten thousand empty files.
    else if (typeof content === 'string') file.addBuffer(Buffer.from(content), name, { compress: content !== '' });
    else file.addBuffer(Buffer.from(content.text), name, { mode: content.mode });
  }
  file.end();
  return await buffer(file.outputStream);
}

/** Replaces bytes (as Latin-1) in a ZIP by others of the same length: a name or a size that no honest tool writes. */
export function rename(bytes: Buffer, from: string, to: string): Buffer {
  if (from.length !== to.length) throw new Error('Names must have the same length');
  const text = bytes.toString('latin1');
  if (!text.includes(from)) throw new Error(`No ${from} in the ZIP`);
  return Buffer.from(text.replaceAll(from, to), 'latin1');
}

export const manifest = (more: Record<string, unknown> = {}) =>
  JSON.stringify({ manifest_version: 3, name: 'Probe', version: '1.2', ...more });

/** Creates an extension that signs every page with its ID and version, and has a service worker. */
export function probeExtension(more: Record<string, unknown> = {}): Promise<Buffer> {
  return zip({
    'manifest.json': manifest({
      background: { service_worker: 'worker.js' },
      content_scripts: [{ matches: ['<all_urls>'], js: ['scripts/sign.js'], run_at: 'document_start' }],
      permissions: ['storage'],
      ...more,
    }),
    'worker.js': 'self.isProbe = true;',
    'scripts/sign.js': `const { id, getManifest } = chrome.runtime;
      document.documentElement.dataset.probe = [id, getManifest().version].join(' ');`,
  });
}
