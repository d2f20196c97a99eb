import { BrowserModel } from '../../../../src/cdp/model/browser-model.ts';
import { ClientView } from '../../../../src/cdp/model/client-view.ts';
import { type InterceptorOptions, interceptorsFor } from '../../../../src/cdp/pipeline.ts';
import type { InterceptorTransport } from '../../../../src/cdp/transport/interceptor.ts';

/** Interceptors of every connection. */
export const OTHERS = ['LostScreenshots', 'Downloads', 'Uploads'];

const unused = () => {
  throw new Error('nothing is sent or delivered while the list is made');
};
const model = new BrowserModel();
const link: InterceptorTransport = {
  model,
  view: new ClientView(model, { toClient: unused, ended: unused, letGo: unused }),
  call: unused,
  post: unused,
  isPending: unused,
  deliver: unused,
  pass: unused,
  send: unused,
};

/** The names of a connection's interceptors, from the client to the browser. */
export async function namesOf(options: InterceptorOptions): Promise<string[]> {
  return (await interceptorsFor(options)).map((create) => create(link).constructor.name);
}
