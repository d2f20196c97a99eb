import { expect, test } from '@playwright/test';
import { LostScreenshots } from '../../../../src/cdp/contexts/lost-screenshots.ts';
import type { CdpMessage } from '../../../../src/cdp/message.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';

/** Screenshots during navigations. */

const sessionId = 'page';
const SHOT = { id: 1, method: 'Page.captureScreenshot', params: { format: 'png' }, sessionId };

function aPage() {
  const [toBrowser, toClient]: [CdpMessage[], CdpMessage[]] = [[], []];
  const list = new InterceptorList([(link) => new LostScreenshots(link)], {
    toBrowser: (command) => toBrowser.push(command),
    toClient: (message) => toClient.push(message),
  });
  list.message({ method: 'Target.attachedToTarget', params: { sessionId, targetInfo: { targetId: 'T' } } });
  list.command({ id: 0, method: 'Page.enable', sessionId });
  list.message({ id: 0, result: {}, sessionId });
  list.command(SHOT);
  const navigate = (loaderId: string, id = 'T') =>
    list.message({ method: 'Page.frameNavigated', params: { frame: { id, loaderId } }, sessionId });
  const respond = (number: number, outcome: Pick<CdpMessage, 'result' | 'error'>) =>
    list.message({ id: shots()[number]?.id, sessionId, ...outcome });
  const shots = () => toBrowser.filter(({ method }) => method === SHOT.method);
  const responses = () => toClient.filter(({ id }) => id === 1);
  return { list, navigate, respond, shots, responses };
}

const error = (message: string) => ({ error: { code: -32_000, message } });
const REFUSED = error('Not attached to an active page');

test('requests it again in each new document, and delivers the first picture', () => {
  const { navigate, respond, shots, responses } = aPage();
  navigate('second');
  navigate('second');
  navigate('of a frame', 'F');
  navigate('third');
  expect(shots().map(({ params }) => params)).toEqual([SHOT.params, SHOT.params, SHOT.params]);
  respond(1, error('Unable to capture screenshot'));
  expect(responses()).toEqual([]);
  respond(2, { result: { data: 'picture' } });
  respond(0, { result: { data: 'late' } });
  navigate('fourth');
  expect(responses()).toEqual([{ id: 1, sessionId, result: { data: 'picture' } }]);
  expect(shots().length).toBe(3);
});

test('waits for the next document, or the end of loading, when the page is between two', () => {
  for (const event of ['Page.frameStoppedLoading', 'Page.frameNavigated', 'Inspector.targetCrashed']) {
    const { list, respond, shots, responses } = aPage();
    respond(0, REFUSED);
    expect([shots().length, responses()]).toEqual([1, []]);
    list.message({ method: event, params: { frameId: 'T', frame: { id: 'T', loaderId: 'second' } }, sessionId });
    expect({ event, shots: shots().length }).toEqual({ event, shots: 2 });
    respond(1, { result: { data: 'picture' } });
    expect(responses()).toEqual([{ id: 1, sessionId, result: { data: 'picture' } }]);
  }
});

test('delivers other errors unchanged', () => {
  const { respond, responses } = aPage();
  respond(0, error('Unable to capture screenshot'));
  expect(responses()).toEqual([{ id: 1, sessionId, ...error('Unable to capture screenshot') }]);
});
