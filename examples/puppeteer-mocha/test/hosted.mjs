import assert from 'node:assert/strict';
import { hosted } from 'poolwright/mocha';

/** Arrow functions ask `hosted`: a test that does not ask has no page. */
describe('hosted', () => {
  it('opens a page', async () => {
    const page = await hosted.page();
    await page.setContent('<h1>Tea</h1>');
    assert.equal(await page.$eval('h1', (heading) => heading.textContent), 'Tea');
  });

  it('needs none', () => assert.equal(1 + 1, 2));
});
