/** Messages of Playwright's protocol, for tests of what they pass on their way. */

export type Message = Record<string, unknown>;

/** Records what leaves an interceptor on either side. */
export function recordMessages() {
  const server: Message[] = [];
  const client: Message[] = [];
  const take = <T>(list: T[]) => list.splice(0);
  return {
    toServer: (text: string) => void server.push(JSON.parse(text)),
    toClient: (text: string) => void client.push(JSON.parse(text)),
    /** What has reached the server since the last call. */
    server: () => take(server),
    /** What has reached the client since the last call. */
    client: () => take(client),
  };
}

/** The event of a new object. */
export function create(parent: string, type: string, guid: string, initializer = {}) {
  return { guid: parent, method: '__create__', params: { type, guid, initializer } };
}
