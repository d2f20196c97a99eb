import { InvalidArgumentError } from 'commander';

/** Parser of an option that is a number, such as 0.05; its bounds are checked by who takes it. */
export function decimal(value: string): number {
  if (!/^-?(\d+\.?\d*|\.\d+)$/.test(value)) throw new InvalidArgumentError('It must be a number, such as 0.05.');
  return Number(value);
}
