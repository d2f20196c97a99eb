import { InvalidArgumentError } from 'commander';

/** Parser of a whole-number option; the caller checks its range. */
export function integer(value: string): number {
  if (!/^-?\d+$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

/** Parser of `--port`. 0: any free one. */
export function portNumber(value: string): number {
  const port = integer(value);
  if (port < 0 || port > 65_535) throw new InvalidArgumentError('It must be a port: 0 to 65535 (0: any free one).');
  return port;
}

/** Parser of an option that is a number, such as 0.05; the caller checks its range. */
export function decimal(value: string): number {
  if (!/^-?(\d+\.?\d*|\.\d+)$/.test(value)) throw new InvalidArgumentError('It must be a number, such as 0.05.');
  return Number(value);
}
