import type { CdpMessage } from '../../../../src/cdp/message.ts';
import type { InterceptorFactory, InterceptorTransport } from '../../../../src/cdp/transport/interceptor.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';

/** The response to a command when its page has crashed. */
export const CRASHED = { code: -32_000, message: 'Target crashed' };

export const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A list with one interceptor, between a client and a browser that the test plays. */
export function aLink(create?: (link: InterceptorTransport) => ReturnType<InterceptorFactory>) {
  const [toBrowser, toClient]: [CdpMessage[], CdpMessage[]] = [[], []];
  const links: InterceptorTransport[] = [];
  const factory: InterceptorFactory = (link) => {
    links.push(link);
    return create?.(link) ?? {};
  };
  const list = new InterceptorList([factory], {
    toBrowser: (command) => toBrowser.push(command),
    toClient: (message) => toClient.push(message),
  });
  const attach = (sessionId: string, targetId: string, parent?: string) => {
    const params = { sessionId, targetInfo: { targetId } };
    list.message({ method: 'Target.attachedToTarget', params, ...(parent !== undefined && { sessionId: parent }) });
  };
  /** The page's process crashes, and the browser responds to the commands sent since. */
  const crash = async (sessionId: string) => {
    list.message({ method: 'Inspector.targetCrashed', sessionId });
    list.message({ id: toBrowser.find(({ method }) => method === 'Browser.getVersion')?.id, result: {} });
    await turn();
    await turn();
  };
  const responses = () => toClient.filter(({ id }) => id !== undefined);
  return { list, link: links[0] as InterceptorTransport, toBrowser, attach, crash, responses };
}
