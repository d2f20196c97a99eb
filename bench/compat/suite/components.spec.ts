import { expect, test } from '../test.ts';

test.use({ baseURL: `${process.env.COMPAT_SITE}/gallery` });

test('component mount: props, callbacks, update, unmount', async ({ mount, page }) => {
  const clicks: string[] = [];
  const onClick = (name: string) => clicks.push(name);
  const component = await mount('Button', { title: 'Buy', onClick });
  await component.getByRole('button', { name: 'Buy' }).click();
  await expect.poll(() => clicks).toEqual(['Buy']);
  await component.update({ title: 'Sell', onClick });
  await expect(component.getByRole('button')).toHaveText('Sell');
  await component.unmount();
  await expect(page.locator('#root')).toBeEmpty();
});
