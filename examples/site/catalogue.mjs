/** What the tea house sells. Prices are in cents per 100 g. */
export const teas = [
  {
    slug: 'morning-mist',
    name: 'Morning Mist',
    kind: 'Green tea',
    origin: 'Uji, Japan',
    price: 1290,
    minutes: 2,
    celsius: 70,
    color: '#7fa650',
    text: 'Steamed first-flush leaves. Bright and grassy, with a soft sweetness that stays.',
  },
  {
    slug: 'iron-goddess',
    name: 'Iron Goddess',
    kind: 'Oolong',
    origin: 'Anxi, China',
    price: 1650,
    minutes: 3,
    celsius: 90,
    color: '#c08a3e',
    text: 'Tightly rolled and lightly roasted. Orchid first, then toasted grain; good for five infusions.',
  },
  {
    slug: 'second-flush',
    name: 'Second Flush',
    kind: 'Black tea',
    origin: 'Darjeeling, India',
    price: 1180,
    minutes: 4,
    celsius: 95,
    color: '#a4532c',
    text: 'Picked in June, when the leaf turns to muscatel. Takes a little milk, needs none.',
  },
  {
    slug: 'old-tree',
    name: 'Old Tree',
    kind: 'Pu-erh',
    origin: 'Yunnan, China',
    price: 2400,
    minutes: 5,
    celsius: 100,
    color: '#6b3f2a',
    text: 'Leaves of hundred-year-old trees, pressed and aged for eight years. Deep, earthy, calm.',
  },
  {
    slug: 'evening-garden',
    name: 'Evening Garden',
    kind: 'Herbal',
    origin: 'Alentejo, Portugal',
    price: 840,
    minutes: 6,
    celsius: 100,
    color: '#9a76b8',
    text: 'Lemon verbena, chamomile and a few rose petals. No caffeine, for the hours after dinner.',
  },
  {
    slug: 'snow-bud',
    name: 'Snow Bud',
    kind: 'White tea',
    origin: 'Fuding, China',
    price: 1980,
    minutes: 4,
    celsius: 80,
    color: '#b9b08a',
    text: 'Only buds, only in spring, only dried. Hay, melon and honey, very quiet.',
  },
];

export const tins = ['Plain paper', 'Blue crane tin', 'Red lacquer tin', 'Cherry bark box'];

export const findTea = (slug) => teas.find((tea) => tea.slug === slug);

export const euros = (cents) => `€${(cents / 100).toFixed(2)}`;

/** The catalogue as a spreadsheet, for the download. */
export function priceList() {
  const rows = teas.map((tea) => [tea.name, tea.kind, tea.origin, (tea.price / 100).toFixed(2)]);
  const cell = (value) => `"${value.replaceAll('"', '""')}"`;
  return [['Tea', 'Kind', 'Origin', 'EUR per 100 g'], ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
