import { withClient } from '../../src/cli/with-client.ts';
import { compareContract } from './contract.ts';

const differences = await withClient(compareContract);
console.log([...differences, `${differences.length} differences`].join('\n'));
if (differences.some((each) => each.startsWith('breaks: '))) process.exitCode = 1;
