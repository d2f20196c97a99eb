import * as v from 'valibot';
import { ApiError } from '../api-error.ts';
import type { BrowserSpec } from '../browser-spec.ts';
import type { CdpPipe } from '../cdp/cdp-pipe.ts';

const targets = v.looseObject({ targetInfos: v.array(v.looseObject({ targetId: v.string(), type: v.string() })) });
const attached = v.looseObject({ sessionId: v.string() });
const evaluated = v.looseObject({ result: v.looseObject({ value: v.optional(v.unknown()) }) });

/** What creation does with the browser's first page: `browserCheck` runs a script in it, `url` is opened in it. */
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
