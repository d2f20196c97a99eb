/** The part of the service's client that lists sessions: built, or from the sources. */
interface Sessions {
  iterateSessions(query: { status?: 'active' | 'starting' }): AsyncIterable<{ sessionId: string }>;
}

/** Returns the IDs of all sessions so far, or of those with this status. */
export async function sessionIds(client: Sessions, status?: 'active' | 'starting'): Promise<string[]> {
  const found: string[] = [];
  for await (const { sessionId } of client.iterateSessions(status ? { status } : {})) found.push(sessionId);
  return found;
}

/** Returns the IDs of running sessions. */
export async function runningIds(client: Sessions): Promise<string[]> {
  return [...(await sessionIds(client, 'active')), ...(await sessionIds(client, 'starting'))];
}
