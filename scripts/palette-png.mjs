import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const MAX_COLORS = 256;

/** A screenshot with at most 256 colors, a third as large. @param page any page of a browser, which decodes it */
export async function palettePng(page, png) {
  const { width, height, data } = await pixelsOf(page, png);
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const color = colorAt(data, at);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const palette = paletteOf(counts);
  const nearest = new Map(palette.map((color, index) => [color, index]));
  const rows = Buffer.alloc(height * (width + 1)); // each row begins with its filter: none
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const color = colorAt(data, (y * width + x) * 4);
      if (!nearest.has(color)) nearest.set(color, indexOfNearest(palette, color));
      rows[y * (width + 1) + 1 + x] = nearest.get(color);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8); // 8 bits, with a palette
  const chunks = [
    ['IHDR', header],
    ['PLTE', Buffer.from(palette.flatMap(parts))],
    ['IDAT', deflateSync(rows, { level: 9 })],
    ['IEND', Buffer.alloc(0)],
  ];
  return Buffer.concat([SIGNATURE, ...chunks.map(chunk)]);
}

function colorAt(data, at) {
  return (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
}

function parts(color) {
  return [color >> 16, (color >> 8) & 255, color & 255];
}

/** The most frequent color of each group of similar ones, for the largest groups. */
function paletteOf(counts) {
  const groups = new Map();
  for (const [color, count] of counts) {
    const key = color & 0xf8f8f8;
    const group = groups.get(key) ?? { total: 0, color, most: 0 };
    group.total += count;
    if (count > group.most) Object.assign(group, { color, most: count });
    groups.set(key, group);
  }
  return [...groups.values()]
    .sort((one, other) => other.total - one.total)
    .slice(0, MAX_COLORS)
    .map(({ color }) => color);
}

function indexOfNearest(palette, color) {
  const [red, green, blue] = parts(color);
  const distances = palette.map((other) => {
    const [r, g, b] = parts(other);
    return (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
  });
  return distances.indexOf(Math.min(...distances));
}

function chunk([type, content]) {
  const body = Buffer.concat([Buffer.from(type), content]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

async function pixelsOf(page, png) {
  const { width, height, base64 } = await page.evaluate(async (encoded) => {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    let text = '';
    for (let at = 0; at < data.length; at += 8_192) text += String.fromCharCode(...data.subarray(at, at + 8_192));
    return { width: bitmap.width, height: bitmap.height, base64: btoa(text) };
  }, png.toString('base64'));
  return { width, height, data: Buffer.from(base64, 'base64') };
}
