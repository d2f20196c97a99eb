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
  const notes: string[] = [];
  const opening = openOwnBrowsers(source, { onNote: (text) => void notes.push(text) });
  try {
    const answer = await finding('browsers', async () => {
      await (await opening).check();
      if (notes.length > 0) return { result: 'warning', says: notes.join('; ') };
      return source.kind === 'browsers' ? `${source.browsers.length} of POOLWRIGHT_CDP_URL` : `those of ${source.file}`;
    });
    if (answer.result === 'failed')
      return [source.kind === 'browsers' ? await withWhatAnswers(answer, source.browsers) : answer];
    const provider = await opening;
    if (source.kind === 'browsers') return [answer, await tried(() => session(provider, ENDS))];
    return [answer, ...(await examined(provider, source.file, tried))];
  } finally {
    await opening.then(
      (provider) => provider.close(),
      () => undefined,
    );
  }
}

/** How the browsers come and go, in words. */
const ENDS: [string, string] = ['leased', 'released'];

async function examined(
  provider: ProvidedBrowsers,
  file: string,
  tried: (trial: () => Promise<Finding>) => Promise<Finding>,
): Promise<Finding[]> {
  const more: Finding[] = [];
  const ended: string[] = [];
  const whileItRuns = async (running: TriedSession) => {
    if (!provider.lacks.includes('list')) more.push(await listed(provider, running));
    ended.push(running.sessionId);
  };
  const one = await tried(() => session(provider, ENDS, whileItRuns));
  for (const sessionId of ended) more.push(await releasedAgain(provider, sessionId));
  if (!provider.lacks.includes('limit')) more.push(await limitOf(provider, file));
  return [...provider.lacks.map(lackOf), one, ...more];
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
