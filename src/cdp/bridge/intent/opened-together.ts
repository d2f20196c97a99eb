import type { BridgedSession, BridgedSessions } from '../bridged-sessions.ts';
import type { FrameDocument, FrameDocuments } from './frame-documents.ts';

/**
 * The documents that can lead a page somewhere: those in its own frames, and in the pages that have opened it, that it
 * has opened, or that were opened by the same one.
 */
export function openedTogether(page: BridgedSession, sessions: BridgedSessions, frames: FrameDocuments) {
  const pages = sessions.of(page.contextId).filter(([, { isDocument, parent }]) => isDocument && parent === undefined);
  const related = new Set([page.targetId]);
  for (let before = 0; before < related.size; ) {
    before = related.size;
    for (const [, { targetId, openerId }] of pages) {
      if (openerId === undefined || !(related.has(targetId) || related.has(openerId))) continue;
      // One that has been closed is a link between those that it has opened all the same.
      related.add(targetId).add(openerId);
    }
  }
  const documents: FrameDocument[] = [];
  for (const document of frames.all()) {
    if (related.has(pageOf(document.sessionId, sessions)?.targetId ?? '')) documents.push(document);
  }
  return documents;
}

/** The page that a frame's session belongs to. */
export function pageOf(sessionId: string, sessions: BridgedSessions): BridgedSession | undefined {
  let session = sessions.get(sessionId);
  while (session?.parent !== undefined) session = sessions.get(session.parent);
  return session;
}
