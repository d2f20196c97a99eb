import type {
  FinishedTest,
  PictureSize,
  RunView,
  SlotView,
  WatchedRun,
  WatchedRuns,
  WatchPicture,
} from '../../../src/broker/watch/view.ts';
import type { PageInput } from '../../../src/common/page/page-input.ts';

/** Runs whose course a test writes: the input of a watch server. */

/** A run that changes when a test changes it. */
export class ScriptedRun implements WatchedRun {
  view: RunView;
  /** What it has been asked for, the latest last. */
  readonly demands: Record<number, PictureSize>[] = [];
  readonly inputs: { slot: number; target: string; input: PageInput }[] = [];
  readonly released: number[] = [];
  readonly lastPictures = new Map<string, Buffer>();

  constructor(view: Partial<RunView> = {}) {
    this.view = aRunView(view);
  }

  lastPicture(test: string): Buffer | null {
    return this.lastPictures.get(test) ?? null;
  }

  demand(slots: ReadonlyMap<number, PictureSize>): void {
    this.demands.push(Object.fromEntries(slots));
  }

  input(slot: number, target: string, input: PageInput): void {
    this.inputs.push({ slot, target, input });
  }

  release(slot: number): void {
    this.released.push(slot);
  }
}

export class ScriptedRuns implements WatchedRuns {
  all: ScriptedRun[] = [];
  isClosed = false;
  readonly #listeners = new Set<() => void>();
  readonly #pictureListeners = new Set<(run: WatchedRun, picture: WatchPicture) => Promise<void>>();

  /** Adds the run as the newest one. */
  add(run: ScriptedRun): void {
    this.all = [run, ...this.all];
    this.#notify();
  }

  change(run: ScriptedRun, view: Partial<RunView>): void {
    run.view = { ...run.view, ...view };
    this.#notify();
  }

  changeSlot(run: ScriptedRun, number: number, slot: Partial<SlotView>): void {
    const slots = run.view.slots.map((each) => (each.slot === number ? { ...each, ...slot } : each));
    this.change(run, { slots });
  }

  finish(run: ScriptedRun, test: FinishedTest, picture?: Buffer): void {
    if (picture) run.lastPictures.set(test.id, picture);
    const { finished, passed, failed } = run.view;
    const counts = test.ok ? { passed: passed + 1 } : { failed: failed + 1 };
    this.change(run, { ...counts, finished: [{ ...test, hasPicture: picture !== undefined }, ...finished] });
  }

  /** Resolves when the slot's next picture may come. */
  async picture(run: ScriptedRun, picture: Partial<WatchPicture> & Pick<WatchPicture, 'data'>): Promise<void> {
    const whole = { ...aPicture(run.view.slots[0]), ...picture };
    await Promise.all([...this.#pictureListeners].map((listener) => listener(run, whole)));
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onPicture(listener: (run: WatchedRun, picture: WatchPicture) => Promise<void>): () => void {
    this.#pictureListeners.add(listener);
    return () => this.#pictureListeners.delete(listener);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

let lastRun = 0;

function aRunView(view: Partial<RunView> = {}): RunView {
  lastRun += 1;
  return {
    id: `run-${lastRun}`,
    name: 'web shop',
    runner: 'playwright',
    startedAt: Date.now() - 63_000,
    endedAt: null,
    slots: [aSlot()],
    finished: [],
    passed: 0,
    failed: 0,
    pictureBytes: 0,
    ...view,
  };
}

/** A slot with a browser and a test in it. */
export function aSlot(slot: Partial<SlotView> = {}): SlotView {
  const { slot: number = 0 } = slot;
  return {
    slot: number,
    sessionId: `ses_${number}4Kf9Qz`,
    waitsFor: null,
    since: Date.now() - 60_000,
    test: {
      id: `test-${number}`,
      title: 'checkout › pays with a saved card',
      project: 'chromium',
      step: 'Click getByRole("button", { name: "Pay" })',
      startedAt: Date.now() - 12_000,
    },
    pages: [{ target: `page-${number}`, url: 'https://shop.example/checkout?step=payment' }],
    hold: null,
    ...slot,
  };
}

let lastTest = 0;

export function aFinishedTest(test: Partial<FinishedTest> = {}): FinishedTest {
  lastTest += 1;
  const endedAt = Date.now() - 1_000 + lastTest;
  return {
    id: `finished-${lastTest}`,
    title: `search › finds products (${lastTest})`,
    project: 'chromium',
    startedAt: endedAt - 4_200,
    slot: 0,
    status: 'passed',
    ok: true,
    retry: 0,
    endedAt,
    sessionId: 'ses_04Kf9Qz',
    hasPicture: false,
    ...test,
  };
}

function aPicture({ slot, pages }: SlotView = aSlot()): Omit<WatchPicture, 'data'> {
  const { target = 'page-0', url = 'about:blank' } = pages[0] ?? {};
  return { slot, target, url, at: Date.now(), width: 1280, height: 800 };
}
