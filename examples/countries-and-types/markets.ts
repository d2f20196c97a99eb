/** What visitors from a country are to see. */
export const MARKETS = [
  { country: 'US', price: '€1,234.50', zone: /^America\// },
  { country: 'DE', price: '1.234,50 €', zone: /^Europe\/Berlin$/ },
];
