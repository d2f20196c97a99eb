import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostedBrowser } from 'poolwright/node-test';

const hosted = hostedBrowser();

test('a page has a title', async () => {
  await hosted.page.setContent('<title>Tea house</title>');
  assert.equal(await hosted.page.title(), 'Tea house');
});

test('it is another one in the next test', async () => {
  assert.equal(await hosted.page.title(), '');
  assert.match(hosted.session.sessionId, /./);
});
