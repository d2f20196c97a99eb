import { Windows } from '../contexts/windows.ts';
import type { Surroundings } from '../optional.ts';
import type { InterceptorFactory } from '../transport/interceptor.ts';
import { EarlyClose } from './contexts/early-close.ts';
import { PreparedContexts } from './contexts/prepared-contexts.ts';
import { DestroyedTabs } from './puppeteer/destroyed-tabs.ts';
import { PreparedPages } from './puppeteer/prepared-pages.ts';
import { PuppeteerReads } from './puppeteer/reads/puppeteer-reads.ts';
import { PipelinedReads } from './reads/pipelined-reads.ts';
import { PipelinedScripts } from './scripts/pipelined-scripts.ts';

/** Hides round trips to a distant browser: contexts are created and closed ahead, predictable commands sent early. */
export function nextToClient(surroundings: Surroundings): InterceptorFactory[] {
  return surroundings.client === 'playwright' ? forPlaywright(surroundings) : forPuppeteer(surroundings);
}

function forPlaywright({ persistent, sharesBrowser, savings }: Surroundings): InterceptorFactory[] {
  const list: InterceptorFactory[] = [];
  // A persistent context is cleared and reused, not created: Playwright has to wait until that is done.
  if (!persistent && sharesBrowser) {
    // Before the interceptor that prepares contexts: Playwright cannot close what it has not been shown yet.
    list.push((transport) => new EarlyClose(transport, savings));
    list.push((transport) => new PreparedContexts(transport, savings));
  }
  list.push((transport) => new PipelinedScripts(transport, savings));
  list.push((transport) => new PipelinedReads(transport, savings));
  return list;
}

function forPuppeteer({ sharesBrowser, savings }: Surroundings): InterceptorFactory[] {
  const list: InterceptorFactory[] = [];
  if (sharesBrowser) {
    const windows = new Windows();
    // Before the interceptor that prepares pages: Puppeteer cannot close what it has not been shown yet.
    list.push((transport) => new EarlyClose(transport, savings, windows, new DestroyedTabs(transport.model)));
    list.push((transport) => new PreparedPages(transport, savings, windows));
  }
  // After the interceptor that prepares pages, whose commands show which worlds are Puppeteer's.
  list.push((transport) => new PuppeteerReads(transport, savings));
  return list;
}
