import { testTea } from './tea.ts';

testTea('Rooibos', 12);
