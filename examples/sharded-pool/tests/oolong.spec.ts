import { testTea } from './tea.ts';

testTea('Oolong', 3);
