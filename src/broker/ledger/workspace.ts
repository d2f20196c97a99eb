import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';

/** The owner of the browsers in a ledger, without its key: a workspace of the service, or the file of a provider. */
export interface Workspace {
  baseURL: string;
  workspace: string;
}

export function workspaceOf(owner: { baseURL: string; apiKey: string } | { file: string }): Workspace {
  if ('file' in owner) return { baseURL: pathToFileURL(owner.file).href, workspace: 'provider' };
  const mark = createHash('sha256').update(`poolwright workspace ${owner.apiKey}`).digest('hex').slice(0, 16);
  return { baseURL: owner.baseURL, workspace: mark };
}
