import { type OfferedAnswers, urlOf } from './offered-answers.ts';

/** Lets `fetch` take offered answers. */
export function fetchOffered(answers: OfferedAnswers): void {
  globalThis.fetch = new Proxy(globalThis.fetch, {
    apply(target, self, args: Parameters<typeof fetch>) {
      const url = args.length > 0 ? urlOf(args[0]) : null;
      if (url === null) return Reflect.apply(target, self, args);
      const request = answers.begin(url);
      const signal = args[1]?.signal ?? (args[0] instanceof Request ? args[0].signal : null);
      return Reflect.apply(target, self, args).then(
        (response) => {
          const id = answers.end(request);
          return id === null ? response : whole(response, id, signal, answers);
        },
        (error: unknown) => {
          const id = answers.end(request);
          if (id !== null) answers.drop(id);
          throw error;
        },
      );
    },
  });
}

function whole(response: Response, id: string, signal: AbortSignal | null, answers: OfferedAnswers): Response {
  // An answer that may not be read stays one.
  if (response.type === 'opaque') {
    answers.drop(id);
    return response;
  }
  const { status, statusText, headers, url, type, redirected } = response;
  // It is empty, and for the browser not over before it is read.
  response.arrayBuffer().catch(() => undefined);
  const full = new Response(answers.body(id, signal), { status, statusText, headers });
  return Object.defineProperties(full, {
    url: { value: url },
    type: { value: type },
    redirected: { value: redirected },
  });
}
