import type { Budget } from '../../options/schema/reporter.ts';
import type { RunFigures } from '../../record/figures.ts';

export interface BudgetCheck {
  /** One line for each exceeded limit. */
  exceeded: string[];
  /** One line for each limit that could not be checked. */
  unknown: string[];
}

/** Checks what a run used against its limits. */
export function checkBudget({ usedBytes, proxiedBytes, sessions, costCents }: RunFigures, budget: Budget): BudgetCheck {
  const check: BudgetCheck = { exceeded: [], unknown: [] };
  const hold = (name: keyof Budget, actual: number | null, unit: string) => {
    const limit = budget[name];
    if (limit === undefined) return;
    if (actual === null) check.unknown.push(`budget ${name}: not checked, because the service reports no ${unit}`);
    else if (actual > limit)
      check.exceeded.push(
        `budget exceeded: ${name} is limited to ${limit}, but the run used ${rounded(actual)} ${actual === 1 ? unit.replace(/s$/, '') : unit}`,
      );
  };
  hold('bandwidthMB', usedBytes / 1e6, 'MB');
  hold('proxiedMB', proxiedBytes / 1e6, 'MB');
  hold('sessions', sessions, 'browsers');
  hold('costCents', costCents, 'cents');
  return check;
}

/** Must not round down to the exceeded limit. */
function rounded(value: number): string {
  return String(value < 100 ? Number(value.toPrecision(6)) : Math.ceil(value));
}
