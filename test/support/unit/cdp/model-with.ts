import { BrowserModel } from '../../../../src/cdp/model/browser-model.ts';

/** A model of a browser with these sessions, each on a page of its own. */
export function modelWith(...sessionIds: string[]): BrowserModel {
  const model = new BrowserModel();
  for (const sessionId of sessionIds) {
    const targetInfo = { targetId: `target of ${sessionId}`, type: 'page', browserContextId: 'context' };
    model.before({ method: 'Target.attachedToTarget', params: { sessionId, targetInfo } });
  }
  return model;
}
