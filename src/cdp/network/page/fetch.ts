import { type OfferedResponses, urlOf } from './offered-responses.ts';

/** Lets `fetch` take offered responses. */
export function fetchOffered(responses: OfferedResponses): void {
  globalThis.fetch = new Proxy(globalThis.fetch, {
    apply(target, self, args: Parameters<typeof fetch>) {
      const url = args.length > 0 ? urlOf(args[0]) : null;
      if (url === null) return Reflect.apply(target, self, args);
      const request = responses.begin(url);
      const signal = args[1]?.signal ?? (args[0] instanceof Request ? args[0].signal : null);
      return Reflect.apply(target, self, args).then(
        (response) => {
          const id = responses.end(request);
          return id === null ? response : whole(response, id, signal, responses);
        },
        (error: unknown) => {
          const id = responses.end(request);
          if (id !== null) responses.drop(id);
          throw error;
        },
      );
    },
  });
}

function whole(response: Response, id: string, signal: AbortSignal | null, responses: OfferedResponses): Response {
  const body = responses.body(id, signal);
  // An opaque response must stay opaque: its body is read on for the server and the client only.
  if (response.type === 'opaque') return response;
  const { status, statusText, headers, url, type, redirected } = response;
  // It is empty, but the browser considers it unfinished until it is read.
  response.arrayBuffer().catch(() => undefined);
  const full = new Response(body, { status, statusText, headers });
  return Object.defineProperties(full, {
    url: { value: url },
    type: { value: type },
    redirected: { value: redirected },
  });
}
