import { limitsFile, rememberLimits } from '../../broker/ledger/known-limits.ts';
import { type OwnBrowsers, openOwnBrowsers } from '../../providers/open-provider.ts';
import { unleased } from '../../providers/port.ts';
import type { ProvidedBrowsers } from '../../providers/provided-browsers.ts';
import { type Finding, finding, session } from './checks.ts';
import type { TriedSession } from './trial.ts';
import { whatAnswers } from './what-answers.ts';

/** The user's own browsers: which do not answer, what one of them takes, and what their provider cannot do. */
export async function ownBrowsers(
  source: OwnBrowsers,
  tried: (trial: () => Promise<Finding>) => Promise<Finding>,
): Promise<Finding[]> {
  const opening: { provider: ProvidedBrowsers | null } = { provider: null };
  try {
    return await examined(source, tried, opening);
  } finally {
    await opening.provider?.close();
  }
}

/** @param opening gets the provider as soon as it is open */
async function examined(
  source: OwnBrowsers,
  tried: (trial: () => Promise<Finding>) => Promise<Finding>,
  opening: { provider: ProvidedBrowsers | null },
): Promise<Finding[]> {
  const notes: string[] = [];
  let opened: ProvidedBrowsers | null = null;
  const answer = await finding('browsers', async () => {
    const provider = await openOwnBrowsers(source, { onNote: (text) => void notes.push(text) });
    opening.provider = provider;
    await provider.check();
    opened = provider;
    if (notes.length > 0) return notes.join('; ');
    return source.kind === 'browsers' ? `${source.browsers.length} of POOLWRIGHT_CDP_URL` : `those of ${source.file}`;
  });
  if (opened === null) return [source.kind === 'browsers' ? await withWhatAnswers(answer, source.browsers) : answer];
  const provider: ProvidedBrowsers = opened;
  const first: Finding = { ...answer, result: notes.length > 0 ? 'warning' : 'ok' };
  const more: Finding[] = [];
  const whileItRuns = async (running: TriedSession) => {
    if (source.kind === 'provider' && !provider.lacks.includes('list')) more.push(await listed(provider, running));
    if (source.kind === 'provider') ended = running.sessionId;
  };
  let ended: string | null = null;
  const one = await tried(() => session(provider, ['leased', 'released'], whileItRuns));
  if (ended !== null) more.push(await releasedAgain(provider, ended));
  const lacking = source.kind === 'provider' ? provider.lacks.map(lackOf) : [];
  if (source.kind === 'provider' && !provider.lacks.includes('limit')) more.push(await limitOf(provider, source.file));
  return [first, ...lacking, one, ...more];
}

/** How many browsers may run, for this project's runs, too: they choose their number of workers by it. */
async function limitOf(provider: ProvidedBrowsers, file: string): Promise<Finding> {
  const work = async () => {
    const concurrentBrowsers = await provider.limit();
    const limits = limitsFile(process.cwd(), { kind: 'provider', file, isOption: false });
    await rememberLimits(limits, { concurrentBrowsers, pools: new Map() });
    return concurrentBrowsers === null ? 'it is not known at present' : `${concurrentBrowsers} browsers at once`;
  };
  return await finding('limit', work, 'warning');
}

/** Adds which servers respond at addresses without a browser. */
async function withWhatAnswers(answer: Finding, browsers: readonly { url: string }[]): Promise<Finding> {
  const found = (await Promise.all(browsers.map(({ url }) => whatAnswers(url)))).filter((text) => text !== null);
  return found.length > 0 ? { ...answer, says: [...new Set(found)].join(' ') } : answer;
}

/** Whether `list` finds the browser by its label, as a sweep and a request without a response need it. */
async function listed(provider: ProvidedBrowsers, { sessionId, note }: TriedSession): Promise<Finding> {
  let isFound = false;
  const found = await finding('list', async () => {
    const label = await provider.labelOf(sessionId);
    isFound = label === note;
    if (isFound) return 'returns the browser with its label';
    return label === undefined
      ? 'it does not return the browser that runs'
      : 'it returns the browser without its label';
  });
  return isFound ? found : { ...found, result: 'warning', says: `${found.says}: ${COSTS.list}` };
}

/** A crash may come between a release and its record, so that it is repeated. */
async function releasedAgain(provider: ProvidedBrowsers, sessionId: string): Promise<Finding> {
  const again = await finding(
    'release',
    async () => {
      await provider.release(unleased(sessionId));
      return 'resolves for a browser that has ended, too';
    },
    'warning',
  );
  if (again.result === 'ok') return again;
  const cost = 'the second call for a browser must resolve. After a crash, it is repeated with each sweep';
  return { ...again, says: `${cost}: ${again.says}` };
}

function lackOf(call: keyof typeof COSTS): Finding {
  return { check: call, result: 'warning', says: `the provider has no \`${call}\`: ${COSTS[call]}` };
}

/** The consequences of each function that a provider lacks. */
const COSTS = {
  list: 'after a crash of this machine, and after a lost response, browsers may be left',
  usage: 'reports have no bandwidth by the service',
  limit: 'the number of workers is not chosen by it, and runs do not warn of too many',
};
