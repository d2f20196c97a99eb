import { once } from 'node:events';
import { WebSocket } from 'ws';

/** CDP without Playwright: commands over one WebSocket. */
export class CdpSocket {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: { result?: Record<string, unknown>; error?: unknown }) => void>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      const answer = JSON.parse(String(data));
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  static async open(address: string): Promise<CdpSocket> {
    const socket = new WebSocket(address, { perMessageDeflate: false, maxPayload: 512 * 1024 ** 2 });
    await once(socket, 'open');
    return new CdpSocket(socket);
  }

  /** @throws Error with what the browser answered instead of a result */
  async send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const id = ++this.#last;
    const { result, error } = await new Promise<{ result?: Record<string, unknown>; error?: unknown }>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    });
    if (!result) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  /** Opens a page: its target, and the session to send to. */
  async openPage(): Promise<{ targetId: unknown; sessionId: string }> {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    return { targetId, sessionId: String(sessionId) };
  }

  async close(): Promise<void> {
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }
}
