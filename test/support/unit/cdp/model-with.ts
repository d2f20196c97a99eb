import { BrowserModel } from '../../../../src/cdp/model/browser-model.ts';

/** Creates a model of a browser with these sessions, each on a separate page. */
export function modelWith(...sessionIds: string[]): BrowserModel {
  const model = new BrowserModel();
  for (const sessionId of sessionIds) {
    const targetInfo = { targetId: `target of ${sessionId}`, type: 'page', browserContextId: 'context' };
    model.before({ method: 'Target.attachedToTarget', params: { sessionId, targetInfo } });
  }
  return model;
}
