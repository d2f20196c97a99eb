import * as v from 'valibot';
import { errorMessage } from '../../common/error-message.ts';
import { ApiError } from '../api-error.ts';
import type { BrowserSpec } from '../browser-spec.ts';
import type { CdpPipe } from '../cdp/cdp-pipe.ts';

const targets = v.looseObject({ targetInfos: v.array(v.looseObject({ targetId: v.string(), type: v.string() })) });
const attached = v.looseObject({ sessionId: v.string() });
const evaluated = v.looseObject({ result: v.looseObject({ value: v.optional(v.unknown()) }) });

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

/** Prepares the browser's first page: runs the script of `browserCheck` in it, and opens `url` in it. */
export async function prepareFirstPage(pipe: CdpPipe, spec: BrowserSpec): Promise<void> {
  if (!spec.browserCheck && spec.url === undefined) return;
  const { targetInfos } = v.parse(targets, await pipe.send('Target.getTargets'));
  const page = targetInfos.find(({ type }) => type === 'page');
  if (!page) throw new ApiError(500, 'The browser has no page');
  const { targetId } = page;
  const { sessionId } = v.parse(attached, await pipe.send('Target.attachToTarget', { targetId, flatten: true }));
  if (spec.browserCheck) {
    const response = v.parse(evaluated, await pipe.send('Runtime.evaluate', { expression: '6 * 7' }, sessionId));
    if (response.result.value !== 42) throw new ApiError(500, 'The browser check failed: a page does not run script');
  }
  const navigated = spec.url === undefined ? undefined : pipe.send('Page.navigate', { url: spec.url }, sessionId);
  // Opened, not loaded: a slow or broken site is not a failed start. Letting go of the page waits for the navigation.
  void Promise.resolve(navigated)
    .then(() => pipe.send('Target.detachFromTarget', { sessionId }))
    .catch(() => undefined);
}
