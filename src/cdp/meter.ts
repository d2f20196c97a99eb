/** One message of the browser, as CDP has it. */
export interface CdpEvent {
  sessionId: string;
  method: string;
  params: unknown;
}

interface Fields {
  requestId?: unknown;
  encodedDataLength?: unknown;
  response?: { payloadData?: unknown };
  redirectResponse?: { encodedDataLength?: unknown };
}

/**
 * Counts the bytes that a browser's pages received (and the frames they sent), from the `Network.*` events that it
 * reports anyway. Headers are included; answers from a cache count as zero; bodies that pages send are not reported.
 */
export class Meter {
  private bytes = 0;
  /** Body bytes of requests still under way, by session and request: what a finished one reports includes them. */
  private readonly underway = new Map<string, number>();

  /** Bytes so far. */
  total(): number {
    return this.bytes;
  }

  observe({ sessionId, method, params }: CdpEvent): void {
    if (!method.startsWith('Network.') || typeof params !== 'object' || params === null) return;
    const fields = params as Fields;
    const key = `${sessionId} ${String(fields.requestId)}`;
    switch (method) {
      case 'Network.requestWillBeSent':
        this.bytes += size(fields.redirectResponse?.encodedDataLength);
        break;
      case 'Network.dataReceived': {
        const received = size(fields.encodedDataLength);
        this.bytes += received;
        this.underway.set(key, (this.underway.get(key) ?? 0) + received);
        break;
      }
      case 'Network.loadingFinished':
        // The total of head and body; the body has been counted as it came.
        this.bytes += Math.max(0, size(fields.encodedDataLength) - (this.underway.get(key) ?? 0));
        this.underway.delete(key);
        break;
      case 'Network.loadingFailed':
        this.underway.delete(key);
        break;
      case 'Network.webSocketFrameSent':
      case 'Network.webSocketFrameReceived':
        this.bytes += typeof fields.response?.payloadData === 'string' ? fields.response.payloadData.length : 0;
        break;
    }
  }
}

function size(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}
