import { ENDPOINTS, type ServiceClient } from '../../../service/index.ts';
import { printJson } from '../../print.ts';
import { compare } from './compare.ts';
import type { Difference } from './difference.ts';
import { serviceEndpoints } from './service-endpoints.ts';

/** Bound on fetching the description, in ms. */
const TIMEOUT_MS = 15_000;

const TITLES: readonly [kind: Difference['kind'], title: string][] = [
  ['breaks', 'Incompatible with the service:'],
  ['differs', 'May fail in some cases:'],
  ['ours', 'Only in poolwright:'],
  ['theirs', 'Only in the service:'],
];

/**
 * `doctor --contract`: compares the service's live description with what the client sends and reads.
 * @returns whether calls of the client would break
 */
export async function checkContract(client: ServiceClient, json: boolean | undefined): Promise<boolean> {
  const description = await client.getDescription({ timeout: TIMEOUT_MS });
  const theirs = serviceEndpoints(description);
  const differences = compare(ENDPOINTS, theirs);
  const count = (kind: Difference['kind']) => differences.filter((each) => each.kind === kind).length;
  if (json) {
    printJson({ endpoints: { ours: ENDPOINTS.length, theirs: theirs.length }, differences });
    return count('breaks') > 0;
  }
  for (const [kind, title] of TITLES)
    print(
      title,
      differences.filter((each) => each.kind === kind),
    );
  const breaks = count('breaks');
  process.stdout.write(
    `${ENDPOINTS.length} endpoints compared with the ${theirs.length} at /doc: ${verdict(differences.length, breaks)}\n`,
  );
  return breaks > 0;
}

function verdict(all: number, breaks: number): string {
  if (all === 0) return 'no difference';
  const found = all === 1 ? '1 difference' : `${all} differences`;
  if (breaks > 0) return `${found}, ${breaks} of them break calls: update poolwright`;
  return `${found}, ${all === 1 ? 'which breaks no call' : 'none of which breaks a call'}`;
}

function print(title: string, differences: readonly Difference[]): void {
  if (differences.length === 0) return;
  process.stdout.write(`${title}\n`);
  for (const { endpoint, says } of differences) process.stdout.write(`  ${endpoint}: ${says}\n`);
  process.stdout.write('\n');
}
