import { OptionsError } from '../../errors.ts';
import type { LeasePlan } from '../../options/schema/plan.ts';
import type { Holder } from '../browsers/held-browser.ts';
import type { HostedProject } from '../rpc/messages/protocol.ts';

/**
 * The requirements of each project on hosted browsers. The runner sets them once, before any worker asks. A worker
 * names its project. Only a worker whose tests override options registers a separate project, for its connection alone.
 */
export class Projects {
  readonly #run: ReadonlyMap<string, HostedProject>;
  readonly #registered = new WeakMap<Holder, HostedProject>();

  constructor(projects: readonly HostedProject[]) {
    this.#run = new Map(projects.map((project) => [project.id, project]));
  }

  /** Registers a worker's own project. For this worker, it overrides a project of the run with the same ID. */
  register(holder: Holder, project: HostedProject): void {
    this.#registered.set(holder, project);
  }

  /**
   * Returns the project with this ID, as this worker sees it.
   * @throws OptionsError for an unknown project
   */
  of(holder: Holder, id: string): HostedProject {
    const registered = this.#registered.get(holder);
    const found = registered?.id === id ? registered : this.#run.get(id);
    if (!found) throw unknownProject(id, [...this.#run.keys()]);
    return found;
  }

  /** Returns the run's project with this ID; null for one on local browsers. */
  ofRun(id: string): HostedProject | null {
    return this.#run.get(id) ?? null;
  }

  get plans(): LeasePlan[] {
    return [...this.#run.values()].map(({ plan }) => plan);
  }
}

function unknownProject(id: string, known: readonly string[]): OptionsError {
  const named = (each: string) => (each === '' ? 'the default project' : `"${each}"`);
  return new OptionsError(
    'projects',
    `The run has no project ${id === '' ? 'without a name' : named(id)} on hosted browsers: when it began there ${
      known.length === 1 ? 'was' : 'were'
    } ${known.map(named).join(', ') || 'none'}. The config gives other projects in a worker than in the runner; it must give the same ones in both, whatever a global setup changes in the environment.`,
  );
}
