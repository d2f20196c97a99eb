const assert = require('node:assert/strict');

/** A file that uses `this.page`: each of its tests starts with a new page. */
describe('a page', () => {
  it('has a title', async function () {
    await this.page.setContent('<title>Tea house</title>');
    assert.equal(await this.page.title(), 'Tea house');
  });

  it('is another one in the next test', async function () {
    assert.equal(await this.page.title(), '');
    assert.match(this.hostedSession.sessionId, /./);
  });
});
