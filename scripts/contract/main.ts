import { withClient } from '../../src/cli/with-client.ts';
import { compareContract } from './contract.ts';

try {
  const differences = await withClient(compareContract);
  console.log([...differences, `${differences.length} differences`].join('\n'));
  if (differences.some((each) => each.startsWith('breaks: '))) process.exitCode = 1;
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
