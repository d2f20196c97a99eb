import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';

const server = createServer((_, response) => response.end('<h1>from this machine</h1>'));
test.beforeAll(async () => await new Promise<void>((resolve) => server.listen(0, resolve)));
test.afterAll(() => void server.close());

for (const n of [1, 2]) {
  test(`browser ${n} reaches a server of the test`, async ({ page }) => {
    await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
    await expect(page.getByRole('heading')).toHaveText('from this machine');
  });

  test(`browser ${n} starts without cookies`, async ({ context }) => {
    expect(await context.cookies()).toEqual([]);
  });
}
