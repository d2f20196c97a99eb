import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { isoTime } from '../../../common/clock.ts';
import { ApiError } from '../../api-error.ts';
import { crxId, displayName, newPublicKey, readManifest } from '../../extensions/manifest.ts';
import { unpackZip } from '../../extensions/unpack-zip.ts';
import { DirectoryStore } from './directory-store.ts';
import type { StoreContext } from './profile-store.ts';

const fields = v.object({
  id: v.string(),
  files: v.pipe(v.string(), v.uuid()),
  /** The manifest's `key`, ours where it had none: it makes the ID under which Chromium runs the extension. */
  key: v.string(),
  name: v.string(),
  version: v.string(),
  createdAt: v.string(),
  updatedAt: v.string(),
});
type StoredExtension = Omit<v.InferOutput<typeof fields>, 'id' | 'files'>;

/** The uploaded extensions of one workspace. */
export class ExtensionStore {
  readonly #store: DirectoryStore<StoredExtension>;
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
    this.#store = new DirectoryStore({ ...context, schema: fields });
  }

  load(): Promise<void> {
    return this.#store.load((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
  }

  /** In the order in which they were uploaded. */
  get all() {
    return this.#store.records.map(extensionJson);
  }

  /** @throws ApiError 404, also for an extension of another workspace */
  get(extensionId: string) {
    return extensionJson(this.#find(extensionId));
  }

  /** @throws ApiError 400 for a ZIP that is not an extension */
  add(zip: Buffer) {
    return this.#put(`ext_${randomUUID().replaceAll('-', '')}`, zip);
  }

  /** Keeps the internal ID, and also the ID in Chromium unless the new manifest has a `key`. */
  async replace(extensionId: string, zip: Buffer) {
    const { key, createdAt } = this.#find(extensionId);
    return await this.#put(extensionId, zip, { key, createdAt });
  }

  /** @throws ApiError 404 */
  async delete(extensionId: string): Promise<void> {
    await this.#store.delete(this.#find(extensionId).id);
  }

  /** Copies the unpacked extension as it is now into `directory`. @throws ApiError 404 when it has been deleted */
  async copyInto(extensionId: string, directory: string): Promise<void> {
    if (!(await this.#store.copyInto(extensionId, directory))) throw notFound(extensionId);
  }

  async #put(id: string, zip: Buffer, before?: { key: string; createdAt: string }) {
    const now = isoTime(this.#context.clock);
    const wasThere = await this.#store.put(id, async (directory) => {
      await unpackZip(zip, directory);
      const manifest = await readManifest(directory);
      const key = manifest.key ?? before?.key ?? (await newPublicKey());
      if (manifest.key === undefined)
        await writeFile(join(directory, 'manifest.json'), JSON.stringify({ ...manifest, key }));
      const name = await displayName(directory, manifest);
      return { key, name, version: manifest.version, createdAt: before?.createdAt ?? now, updatedAt: now };
    });
    if (!wasThere) throw notFound(id);
    return this.get(id);
  }

  #find(extensionId: string) {
    const found = this.#store.get(extensionId);
    if (!found) throw notFound(extensionId);
    return found;
  }
}

/** Section 2.5 of the service document. */
function extensionJson({ id, key, name, version, createdAt, updatedAt }: StoredExtension & { id: string }) {
  return { extensionId: id, crxExtensionId: crxId(key), name, version, createdAt, updatedAt };
}

function notFound(extensionId: string): ApiError {
  return new ApiError(404, `Extension not found: ${extensionId}`);
}
