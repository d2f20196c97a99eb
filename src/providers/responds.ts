import { on } from 'node:events';
import { openSocket } from '../cdp/transport/open-socket.ts';
import { PoolwrightError } from '../errors.ts';

/** What a browser needs at most, in ms. */
const RESPOND_MS = 5_000;

/**
 * Whether a browser responds at a `ws://` address. Loaded when one has failed: most runs need no socket here.
 * @param timeout of connecting, and of the response, in ms
 */
export async function responds(address: string, timeout = RESPOND_MS): Promise<boolean> {
  const opened = await openSocket(address, { timeout }).catch((error) => {
    if (error instanceof PoolwrightError) return null;
    throw error;
  });
  if (!opened) return false;
  const { socket, cut } = opened;
  const late = AbortSignal.timeout(timeout);
  try {
    const messages = on(socket, 'message', { signal: late, close: ['close'] });
    socket.resume();
    socket.send(JSON.stringify({ id: 1, method: 'Browser.getVersion' }));
    for await (const [data] of messages) if (isVersion(String(data))) return true;
    return false;
  } catch {
    // It was silent for too long, or the connection broke.
    return false;
  } finally {
    socket.close();
    cut();
  }
}

function isVersion(text: string): boolean {
  try {
    const { id, result } = Object(JSON.parse(text));
    return id === 1 && typeof Object(result).product === 'string';
  } catch {
    return false;
  }
}
