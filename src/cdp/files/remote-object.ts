import * as v from 'valibot';
import { errorOf } from '../../errors.ts';
import { pageFunction, pageScript } from '../page-code.ts';
import type { BrowserCommands } from '../transport/interceptor.ts';

const callResponse = v.looseObject({
  result: v.looseObject({ objectId: v.optional(v.string()), value: v.optional(v.unknown()) }),
  exceptionDetails: v.optional(
    v.looseObject({ text: v.string(), exception: v.optional(v.looseObject({ description: v.optional(v.string()) })) }),
  ),
});

const evaluated = v.looseObject({ result: v.looseObject({ objectId: v.string() }) });

const CODE = 'page-files.js';

/** An object in a page, and functions that run there with it as `this`. */
export class RemoteObject {
  readonly objectId: string;
  readonly sessionId: string;
  readonly #commands: BrowserCommands;

  constructor(commands: BrowserCommands, sessionId: string, objectId: string) {
    this.#commands = commands;
    this.sessionId = sessionId;
    this.objectId = objectId;
  }

  static async createInput(commands: BrowserCommands, sessionId: string): Promise<RemoteObject> {
    const expression = pageScript(CODE, 'newInput');
    const { result } = v.parse(evaluated, await commands.call('Runtime.evaluate', { expression }, sessionId));
    return new RemoteObject(commands, sessionId, result.objectId);
  }

  /**
   * Runs a function of `page/files.ts` in the page and returns its value; waits if that is a promise.
   * @throws PoolwrightError with the error thrown there
   */
  async call(name: string, ...args: unknown[]): Promise<unknown> {
    return (await this.#run(name, args, true)).value;
  }

  /** The same for a function that returns an object. */
  async derive(name: string, ...args: unknown[]): Promise<RemoteObject> {
    const { objectId } = await this.#run(name, args, false);
    if (objectId === undefined) throw errorOf('SERVICE_BAD_RESPONSE', 'the page returned no object');
    return new RemoteObject(this.#commands, this.sessionId, objectId);
  }

  release(): void {
    this.#commands.post('Runtime.releaseObject', { objectId: this.objectId }, this.sessionId);
  }

  async #run(name: string, args: unknown[], returnByValue: boolean) {
    const values = args.map((value) => (value instanceof RemoteObject ? { objectId: value.objectId } : { value }));
    const params = {
      objectId: this.objectId,
      functionDeclaration: pageFunction(CODE, name),
      arguments: values,
      returnByValue,
      awaitPromise: true,
    };
    const { result, exceptionDetails } = v.parse(
      callResponse,
      await this.#commands.call('Runtime.callFunctionOn', params, this.sessionId),
    );
    if (exceptionDetails) {
      const { exception, text } = exceptionDetails;
      throw errorOf('SERVICE_BAD_RESPONSE', `in the page: ${exception?.description ?? text}`);
    }
    return result;
  }
}
