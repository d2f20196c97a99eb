const assert = require('node:assert/strict');
const { describe, test } = require('node:test');
const { hostedBrowser } = require('poolwright/node-test');

test('needs no browser', () => assert.equal(1 + 1, 2));

describe('a suite on hosted browsers', { concurrency: true }, () => {
  const hosted = hostedBrowser();

  for (const tea of ['green', 'black']) {
    // Tests that run at once name theirs.
    test(`${tea} tea`, async (t) => {
      const { page } = hosted.of(t);
      await page.setContent(`<h1>${tea}</h1>`);
      assert.equal(await page.$eval('h1', (heading) => heading.textContent), tea);
    });
  }
});
