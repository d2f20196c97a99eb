import { testTea } from './tea.ts';

testTea('Sencha', 2);
