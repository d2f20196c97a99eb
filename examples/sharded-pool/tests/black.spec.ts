import { testTea } from './tea.ts';

testTea('Assam', 4);
