import type { ServerResponse } from 'node:http';

/** The content security policy for a page at this host. Browsers differ in whether `'self'` includes WebSockets. */
function policyFor(host: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ws://${host}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

const HEADERS = {
  'cache-control': 'no-store',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

export interface Content {
  type: string;
  body: Buffer | string;
  /** `Set-Cookie` */
  cookie?: string;
}

/** Responds with content. @param host the request's own, checked */
export function respond(response: ServerResponse, host: string, { type, body, cookie }: Content): void {
  response.writeHead(200, {
    ...HEADERS,
    'content-security-policy': policyFor(host),
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    ...(cookie === undefined ? {} : { 'set-cookie': cookie }),
  });
  response.end(body);
}

/** Responds without content, and without a reason: 403 to everyone without access, 404 to others. */
export function refuse(response: ServerResponse, status: 403 | 404): void {
  response.writeHead(status, { ...HEADERS, 'content-length': 0 }).end();
}
