import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../../message.ts';
import type { BrowserModel } from '../../../model/browser-model.ts';
import { Attached } from '../../../model/per-session.ts';
import type { World } from '../../../model/session.ts';
import { referencedObjects } from '../../remote-objects.ts';
import { Isolates } from '../../scripts/isolates.ts';

type WorldFields = Protocol.Runtime.EvaluateRequest & Protocol.Runtime.CallFunctionOnRequest;

/** Events that contain objects. */
const WITH_OBJECTS = /^Runtime\.(?:consoleAPICalled|exceptionThrown)$/;

/** Counts the objects in each world: `<isolate>.<world>.<number>`, so that the next ones are known in advance. */
export class ObjectCounts {
  readonly #model: BrowserModel;
  readonly #isolates: Isolates;
  readonly #last = new Attached<World, { number: number }>(() => ({ number: 0 }));

  constructor(model: BrowserModel) {
    this.#model = model;
    this.#isolates = new Isolates(model);
    model.onWorld((world) => this.#isolates.onWorld(world));
  }

  /** The world that a command runs in, or that its object is in. */
  worldOf({ params, sessionId }: CdpMessage): World | undefined {
    const { executionContextId, contextId = executionContextId } = fieldsOf<WorldFields>(params);
    const ofObject = Number(referencedObjects({ params })[0]?.split('.')[1]);
    return this.#model.session(sessionId)?.worlds.get(typeof contextId === 'number' ? contextId : ofObject);
  }

  /** Takes a command of the client: it may know objects from elsewhere. */
  onCommand(command: CdpMessage): void {
    for (const objectId of referencedObjects(command)) this.#count(command.sessionId, objectId);
  }

  /** Takes a message from the browser. */
  onMessage(message: CdpMessage): void {
    const { id, method = '', params, result, sessionId } = message;
    if (id === undefined && !WITH_OBJECTS.test(method)) return;
    if (id !== undefined) this.#isolates.onResponse(message);
    const { result: value, object } = fieldsOf<{ result: object; object: object }>(result);
    for (const objectId of referencedObjects({ params: id === undefined ? params : [value, object] })) {
      this.#count(sessionId, objectId);
    }
  }

  /**
   * The ID of the next object in a world; null if it cannot be known.
   * @param made how many are on their way
   */
  next(world: World, made: number): string | null {
    const prefix = this.#isolates.prefixOf(world);
    return prefix && `${prefix}.${this.#last.of(world).number + made + 1}`;
  }

  #count(sessionId: string | undefined, objectId: string): void {
    const [, world, number] = objectId.split('.').map(Number);
    const of = this.#model.session(sessionId)?.worlds.get(world ?? Number.NaN);
    if (!of || number === undefined) return;
    const last = this.#last.of(of);
    last.number = Math.max(last.number, number);
  }
}
