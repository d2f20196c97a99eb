/** Why and how a link to a browser closed. */
export interface LinkClosed {
  /** WebSocket close code; 1006 when the connection was cut without a word; null where Playwright did not say. */
  code: number | null;
  /** What the other side said; often empty. */
  reason: string;
  /** Whether this side closed it. */
  byUs: boolean;
}

/** `closed` in a sentence. */
export function describeClosed({ code, reason, byUs }: LinkClosed): string {
  if (byUs) return 'The link to the browser was closed on this side.';
  if (code === null) return 'The link to the browser closed.';
  const how = code === 1006 ? 'was cut' : 'was closed by the other side';
  return `The link to the browser ${how} (code ${code}${reason === '' ? '' : `: ${reason}`}).`;
}
