import type { Budget } from '../../options/schema/budget.ts';
import type { RunFigures } from '../../record/figures.ts';

/** Whether a run kept to its budget. */
export interface BudgetCheck {
  /** One line for each limit that was exceeded. */
  exceeded: string[];
  /** One line for each limit of which it is not known. */
  unknown: string[];
}

/** Holds a run against its budget. */
export function checkBudget({ usedBytes, sessions, costCents }: RunFigures, budget: Budget): BudgetCheck {
  const check: BudgetCheck = { exceeded: [], unknown: [] };
  const hold = (name: keyof Budget, actual: number | null, unit: string) => {
    const limit = budget[name];
    if (limit === undefined) return;
    if (actual === null) check.unknown.push(`budget ${name}: not checked, the service gives no figure of ${unit}`);
    else if (actual > limit)
      check.exceeded.push(
        `budget exceeded: ${name} may be ${limit}, and the run used ${rounded(actual)} ${actual === 1 ? unit.replace(/s$/, '') : unit}`,
      );
  };
  hold('bandwidthMB', usedBytes / 1e6, 'MB');
  hold('sessions', sessions, 'browsers');
  hold('costCents', costCents, 'cents');
  return check;
}

/** Never down to the limit that it exceeds. */
function rounded(value: number): string {
  return String(value < 100 ? Number(value.toPrecision(6)) : Math.ceil(value));
}
