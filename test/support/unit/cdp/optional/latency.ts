import { Savings } from '../../../../../src/cdp/figures.ts';
import { EarlyClose } from '../../../../../src/cdp/latency/contexts/early-close.ts';
import { PreparedContexts } from '../../../../../src/cdp/latency/contexts/prepared-contexts.ts';
import { PipelinedReads } from '../../../../../src/cdp/latency/reads/pipelined-reads.ts';
import { PipelinedScripts } from '../../../../../src/cdp/latency/scripts/pipelined-scripts.ts';
import type { InterceptorFactory } from '../../../../../src/cdp/transport/interceptor.ts';

export function interceptors(): Record<string, InterceptorFactory> {
  return {
    'early-close': (link) => new EarlyClose(link, far()),
    'prepared-contexts': (link) => new PreparedContexts(link, far()),
    'pipelined-scripts': (link) => new PipelinedScripts(link, far()),
    'pipelined-reads': (link) => new PipelinedReads(link, far()),
  };
}

/** Savings for a remote browser. */
function far(): Savings {
  const savings = new Savings(0);
  savings.measured(100);
  return savings;
}
