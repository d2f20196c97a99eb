import { errorMessage } from '../../common/error-message.ts';
import { ApiError } from '../api-error.ts';
import type { CdpPipe } from '../cdp/cdp-pipe.ts';

/** Lets the pipe load extensions; newer Chromiums allow it without. */
export const EXTENSION_ARGUMENTS = ['--enable-unsafe-extension-debugging'];

/**
 * Loads unpacked extensions into a running browser, because Chrome no longer has an argument for it.
 * @throws ApiError 400 with Chromium's reason
 */
export async function loadExtensions(pipe: CdpPipe, directories: readonly string[]): Promise<void> {
  for (const path of directories) {
    try {
      await pipe.send('Extensions.loadUnpacked', { path });
    } catch (error) {
      const said = errorMessage(error).replaceAll(path, 'the extension');
      throw new ApiError(400, `extensionIds: ${said}`, { cause: error });
    }
  }
}
