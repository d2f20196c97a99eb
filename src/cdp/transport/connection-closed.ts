/** Why and how a connection to a browser closed. */
export interface ConnectionClosed {
  /**
   * WebSocket close code; 1006 when the connection was cut without a close frame; null where Playwright did not report
   * one.
   */
  code: number | null;
  /** The reason that the other side gave; often empty. */
  reason: string;
  byUs: boolean;
}

export function describeClosed({ code, reason, byUs }: ConnectionClosed): string {
  if (byUs) return 'The connection to the browser was closed on this side.';
  if (code === null) return 'The connection to the browser closed.';
  const how = code === 1006 ? 'was cut' : 'was closed by the other side';
  return `The connection to the browser ${how} (code ${code}${reason === '' ? '' : `: ${reason}`}).`;
}
