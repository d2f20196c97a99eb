/**
 * The few JSON calls that the tests make. A separate client, so that only the service document decides whether the
 * emulator is correct.
 */
export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect the raw data
  body: any;
}

export class Api {
  constructor(
    readonly baseURL: string,
    readonly apiKey: string,
  ) {}

  async call(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> {
    const response = await fetch(this.baseURL + path, {
      method,
      headers: {
        authorization: `Bearer ${this.apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
    return { status: response.status, body: await response.json() };
  }

  /** Sends a form with this file. */
  async upload(method: 'POST' | 'PUT', path: string, file: Uint8Array, part = 'extension'): Promise<Answer> {
    const body = new FormData();
    body.set(part, new Blob([file as Uint8Array<ArrayBuffer>]), 'extension.zip');
    const headers = { authorization: `Bearer ${this.apiKey}` };
    const response = await fetch(`${this.baseURL}/v1/browser${path}`, { method, headers, body });
    return { status: response.status, body: await response.json() };
  }

  /** `path` continues after `/v1/browser`. */
  get = (path: string) => this.call('GET', `/v1/browser${path}`);
  post = (path: string, body?: unknown, signal?: AbortSignal) => this.call('POST', `/v1/browser${path}`, body, signal);
  patch = (path: string, body: unknown) => this.call('PATCH', `/v1/browser${path}`, body);
  delete = (path: string) => this.call('DELETE', `/v1/browser${path}`);

  create = (body: unknown = {}) => this.post('/session', body);
  session = (sessionId: string) => this.get(`/session?sessionId=${sessionId}`);
  stop = (sessionId: string) => this.delete(`/session?sessionId=${sessionId}`);
  active = async () => (await this.get('/sessions?status=active')).body.sessions;
}
