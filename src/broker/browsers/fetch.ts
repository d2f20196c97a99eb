import { LeaseError } from '../../errors.ts';
import type { HeldBrowser } from './held-browser.ts';

/** A browser on its way from the service. */
export interface Fetch {
  /** Resolves with an idle browser. */
  readonly browser: Promise<HeldBrowser>;
  /** Whether nothing of it is at the service at the moment, so that it can be given up without a trace. */
  readonly parked: boolean;
  /** What it waits for, in a few words. */
  readonly waitsFor: string;
  /** The same with everything that helps, found out now. */
  explain(signal: AbortSignal): Promise<string>;
  /** Gives a parked one up; `browser` rejects. */
  giveUp(): void;
}

/** Ends a fetch that is not needed any more. */
export class SurplusFetch extends LeaseError {
  constructor() {
    super('ABORTED', 'This browser is not needed any more.');
  }
}
