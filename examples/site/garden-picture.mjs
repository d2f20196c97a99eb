import { crc32, deflateSync } from 'node:zlib';

/** Paints the garden: hills with rows of tea in morning haze, and enough film grain to weigh about 1 MB as PNG. */

const WIDTH = 1200;
const HEIGHT = 520;
const GRAIN = 9;

/** mulberry32: the same grain every time. */
function grainSource(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const mix = (a, b, t) => a.map((value, i) => value + (b[i] - value) * t);

const hills = [
  { base: 250, swell: 34, period: 210, shift: 0.4, color: [172, 190, 168] },
  { base: 310, swell: 42, period: 260, shift: 2.1, color: [128, 160, 116] },
  { base: 370, swell: 40, period: 180, shift: 4.0, color: [86, 130, 74] },
  { base: 440, swell: 30, period: 330, shift: 1.2, color: [50, 98, 52] },
];

function sky(x, y) {
  const color = mix([244, 196, 150], [250, 232, 206], Math.min(y / 300, 1));
  const glow = Math.max(0, 1 - Math.hypot(x - 860, y - 170) / 150);
  return glow > 0.7 ? [255, 248, 228] : mix(color, [255, 240, 205], glow);
}

function colorAt(x, y) {
  let color = sky(x, y);
  for (const [depth, hill] of hills.entries()) {
    const ridge = hill.base + hill.swell * Math.sin(x / hill.period + hill.shift) + 8 * Math.sin(x / 47 + depth);
    if (y < ridge) continue;
    const rows = Math.sin((y - ridge) / (2 + depth * 1.6) + Math.sin(x / (70 + depth * 20)) * 1.5) * (4 + depth * 5);
    const haze = Math.max(0, 0.35 - (y - ridge) / 260);
    color = mix(
      hill.color.map((value) => value + rows),
      [244, 226, 200],
      haze,
    );
  }
  return color;
}

function pixels() {
  const random = grainSource(20_260);
  const rows = Buffer.alloc(HEIGHT * (WIDTH * 3 + 1)); // each row starts with its filter type, 0
  let at = 0;
  for (let y = 0; y < HEIGHT; y++) {
    at++;
    for (let x = 0; x < WIDTH; x++) {
      const grain = (random() - 0.5) * GRAIN * 2;
      for (const value of colorAt(x, y)) rows[at++] = Math.max(0, Math.min(255, value + grain));
    }
  }
  return rows;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(body.length + 8);
  frame.writeUInt32BE(data.length, 0);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc32(body), body.length + 4);
  return frame;
}

function paint() {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(WIDTH, 0);
  header.writeUInt32BE(HEIGHT, 4);
  header.set([8, 2], 8); // 8 bits per channel, RGB
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels())),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

let painted;

/** PNG bytes; painted when first asked for. */
export function gardenPicture() {
  painted ??= paint();
  return painted;
}
