import type { Page } from '@playwright/test';

/** Pages as suites of users show them, for pictures of the watch page. */

const FONT = 'font:18px/1.5 system-ui,sans-serif';
const NAMES = ['Lamp', 'Chair', 'Rug', 'Vase', 'Shelf', 'Clock', 'Desk', 'Stool'];

/** The screenshot of a page of a shop, as JPEG. Different numbers look different. */
export async function scene(page: Page, number: number): Promise<Buffer> {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.setContent(html(number));
  return await page.screenshot({ type: 'jpeg', quality: 60 });
}

function html(number: number): string {
  const hue = (number * 67) % 360;
  const body = [list, form, table, article][number % 4]?.(hue) ?? '';
  return `<body style="margin:0;${FONT};color:#223;background:#fff">
    <header style="display:flex;gap:32px;align-items:center;padding:20px 48px;background:hsl(${hue} 45% 32%);color:#fff">
      <b style="font-size:26px">shop.example</b><span>Furniture</span><span>Lights</span><span>Sale</span>
      <span style="margin-left:auto;padding:6px 18px;border-radius:20px;background:#fff3">Cart (${number % 7})</span>
    </header>${body}`;
}

function list(hue: number): string {
  const cards = NAMES.map(
    (name, at) => `<div style="border:1px solid #ddd;border-radius:12px;overflow:hidden">
      <div style="height:150px;background:linear-gradient(135deg,hsl(${hue + at * 25} 60% 82%),hsl(${hue + at * 25} 50% 60%))"></div>
      <p style="margin:12px 16px"><b>${name}</b><br>€ ${19 + at * 10}.00</p></div>`,
  );
  return `<main style="padding:32px 48px"><h1>New arrivals</h1>
    <div style="display:grid;grid-template-columns:repeat(4,1fr);gap:24px">${cards.join('')}</div></main>`;
}

function form(hue: number): string {
  const fields = ['Card number', 'Name on the card', 'Valid until'].map(
    (name) => `<label style="display:block;margin:18px 0 6px">${name}</label>
      <input style="width:100%;box-sizing:border-box;padding:14px;font:inherit;border:1px solid #aab;border-radius:8px" value="${name === 'Card number' ? '4242 4242 4242 4242' : ''}">`,
  );
  return `<main style="max-width:560px;margin:40px auto"><h1>Payment</h1>${fields.join('')}
    <button style="margin-top:28px;width:100%;padding:16px;font:inherit;font-weight:700;border:0;border-radius:8px;color:#fff;background:hsl(${hue} 55% 40%)">Pay € 149.00</button></main>`;
}

function table(hue: number): string {
  const rows = Array.from(
    { length: 9 },
    (_, at) => `<tr style="background:${at % 2 ? '#fff' : `hsl(${hue} 40% 96%)`}">
      <td style="padding:12px 20px">#${10_482 - at}</td><td>${NAMES[at % 8]}</td><td>${at % 3 ? 'Delivered' : 'On its way'}</td><td>€ ${39 + at * 7}.00</td></tr>`,
  );
  return `<main style="padding:32px 48px"><h1>Your orders</h1>
    <table style="width:100%;border-collapse:collapse;text-align:left">${rows.join('')}</table></main>`;
}

function article(hue: number): string {
  return `<main style="display:grid;grid-template-columns:1fr 1fr;gap:48px;padding:40px 48px">
    <div style="height:520px;border-radius:16px;background:radial-gradient(circle at 40% 35%,hsl(${hue} 80% 88%),hsl(${hue} 45% 50%))"></div>
    <div><h1 style="font-size:44px;margin:0">Oak ${NAMES[hue % 8]}</h1><p style="font-size:30px">€ 149.00</p>
    <p>Solid oak, oiled by hand. Delivered in five days, assembled in ten minutes. Thirty days to change your mind.</p>
    <button style="padding:16px 40px;font:inherit;font-weight:700;border:0;border-radius:8px;color:#fff;background:hsl(${hue} 55% 38%)">Add to cart</button></div></main>`;
}
