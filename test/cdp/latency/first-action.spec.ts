import { expect, test } from '../../support/cdp/two-ways.ts';

/** The first action in a new document waits neither for Playwright's scripts nor for their objects. */

/** Playwright requests the second script when it has the first. */
const SCRIPTS = 2;

test.use({ roundTrip: 50 });

test('hides the latency of both scripts, on a first page and after every navigation', async ({
  bothWays,
  greeting,
}) => {
  const elsewhere = greeting.replace('127.0.0.1', 'localhost');
  const { ahead } = await bothWays(async ({ browser, savings }) => {
    // Counted, not timed: on a busy machine Playwright asks for less than a round trip later.
    const saved: number[] = [];
    let count = 0;
    const used = savings.used.bind(savings);
    savings.used = (sentAt) => {
      count += 1;
      used(sentAt);
    };
    for (let number = 0; number < 3; number += 1) {
      const context = await browser.newContext();
      const page = await context.newPage();
      for (const url of [greeting, `${greeting}/?again`, elsewhere, `${elsewhere}/?again`]) {
        await page.goto(url);
        count = 0;
        await page.locator('#out').textContent();
        saved.push(count);
      }
      await context.close();
    }
    return saved;
  });
  const [, , , , ...learned] = ahead;
  for (const [index, trips] of learned.entries()) {
    // In a separate process that has not created an object before, no object can be predicted.
    if (index % 4 !== 2) expect(trips, ahead.join(' ')).toBe(SCRIPTS);
  }
});
