import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { json } from 'node:stream/consumers';

export interface CurlAnswer {
  status: number;
  contentType: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect the raw data
  body: any;
}

/** Sends one request with curl. The key goes through stdin, because every user can read the process list. */
export async function curl(url: string, apiKey?: string, ...args: string[]): Promise<CurlAnswer> {
  const form = '{"status":%{http_code},"contentType":"%{content_type}"}';
  // The response's body goes to stdout, curl's own data to stderr.
  const all = ['--silent', '--max-time', '60', '--header', '@-', '--write-out', `%{stderr}${form}`, ...args, url];
  const child = spawn('curl', all, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(apiKey === undefined ? '' : `Authorization: Bearer ${apiKey}\n`);
  const [body, about] = await Promise.all([json(child.stdout), json(child.stderr), once(child, 'close')]);
  return { ...(about as Omit<CurlAnswer, 'body'>), body };
}
