import { element } from '../../common/page/dom.ts';
import type { PageMessage } from '../server/page-messages.ts';
import { Announcer } from './announcer.ts';
import { Connection } from './connection.ts';
import { Pictures } from './pictures.ts';
import { RunSection } from './run-section.ts';
import { Store } from './store.ts';
import { joined } from './texts.ts';
import { Parts, setChildren, setText } from './update.ts';
import { type Enlarged, Viewer } from './viewer.ts';

/** The page of `poolwright watch`. */

const LOST = 'Connection lost. Trying again … If you stopped npx poolwright watch, start it again.';
const REFUSED = 'This page has no access any longer. Open the address that npx poolwright watch prints.';

const NO_RUN = `Start your tests on this machine, with Playwright Test, Vitest, Jest, Mocha or node:test. They appear here.`;

const main = byId('runs');
const lost = byId('connection');
const emptyTitle = element('h2', {}, 'Connecting …');
const emptyText = element('p');
const empty = element('div', { class: 'empty' }, emptyTitle, emptyText);
const announcer = new Announcer(byId('announcements'));
const store = new Store();
const pictures = new Pictures();
const sections = new Parts<string, RunSection>();
/** Small pictures are drawn together, so often, in ms: each time, the browser lays out and paints the page. */
const DRAW_EVERY_MS = 500;
/** The last demand that was sent. */
let demanded = '';
/** Runs while a picture is to be drawn. */
let drawTimer: number | undefined;

const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const tile = allTiles().find(({ root }) => root === target);
    if (tile) tile.isVisible = isIntersecting;
  }
  sendDemand();
});

const viewer = new Viewer({
  send: (run, slot, target, input) => connection.send({ type: 'input', run, slot, target, input }),
  release,
  onChange: () => {
    viewer.update(store, pictures);
    sendDemand();
  },
  neighbours,
});

const actions = {
  observer,
  onEnlarge: (run: string, slot: number) => viewer.open({ run, slot }),
  onEnlargeTest: (run: string, test: string) => viewer.open({ run, test }),
  onRelease: release,
};

const connection = new Connection({
  onOpen: () => {
    setText(lost, '');
    demanded = '';
    sendDemand();
  },
  onLost: (isRefused) => setText(lost, isRefused ? REFUSED : LOST),
  onView: (message, isFirst) => {
    store.update(message, isFirst);
    setText(emptyTitle, 'No run yet');
    setText(emptyText, NO_RUN);
    draw();
    announcer.update(store.runs);
    sendDemand();
  },
  onPicture: async (header, jpeg) => {
    await pictures.add(header, jpeg);
    if (viewer.slot?.run === header.run && viewer.slot.slot === header.slot) viewer.update(store, pictures);
    else drawTimer ??= window.setTimeout(draw, DRAW_EVERY_MS);
  },
});

document.addEventListener('visibilitychange', sendDemand);
// Times go on without messages.
setInterval(draw, 1_000);
draw();

function draw(): void {
  clearTimeout(drawTimer);
  drawTimer = undefined;
  const now = store.now();
  const shown = sections.sync(
    store.runs.map(({ id }) => id),
    (id) => new RunSection(id, actions),
  );
  for (const [at, run] of store.runs.entries()) {
    for (const slot of run.slots) pictures.keep(run.id, slot);
    shown[at]?.update(run, pictures, now);
  }
  setChildren(main, shown.length > 0 ? shown.map(({ root }) => root) : [empty]);
  viewer.update(store, pictures);
  document.title = titleOf();
}

function titleOf(): string {
  const running = store.runs.filter(({ endedAt }) => endedAt === null);
  const onHold = running.some(({ slots }) => slots.some(({ hold }) => hold));
  const failed = running.reduce((sum, run) => sum + run.failed, 0);
  const state = joined(onHold && 'On hold', failed > 0 && `${failed} failed`);
  return state === '' ? 'poolwright watch' : `${state} – poolwright watch`;
}

function allTiles() {
  return store.runs.flatMap(({ id }) => sections.get(id)?.tiles ?? []);
}

/** Asks for the pictures that the reader sees: none in a hidden tab, one slot's in the dialog, else those in view. */
function sendDemand(): void {
  const slots: Extract<PageMessage, { type: 'demand' }>['slots'] = [];
  const { slot: enlarged } = viewer;
  if (!document.hidden) {
    if (enlarged) slots.push({ ...enlarged, size: 'large' });
    else if (!viewer.isOpen) {
      for (const { run, slot, isVisible } of allTiles()) if (isVisible) slots.push({ run, slot, size: 'small' });
    }
  }
  const message: PageMessage = { type: 'demand', slots };
  const key = JSON.stringify(message);
  if (key === demanded) return;
  demanded = key;
  connection.send(message);
}

function release(run: string, slot: number): void {
  connection.send({ type: 'release', run, slot });
}

function neighbours(shown: Enlarged): Enlarged[] {
  if ('slot' in shown) return allTiles().map(({ run, slot }) => ({ run, slot }));
  const run = store.run(shown.run);
  const order = sections.get(shown.run)?.finished.order ?? [];
  return order.filter((test) => run?.finished.get(test)?.hasPicture).map((test) => ({ run: shown.run, test }));
}

function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new TypeError(`the page has no #${id}`);
  return found;
}
