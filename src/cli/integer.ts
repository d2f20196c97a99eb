import { InvalidArgumentError } from 'commander';

/** Parser of a whole-number option; its bounds are checked by who takes it. */
export function integer(value: string): number {
  if (!/^-?\d+$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}
