import { z } from 'zod';
import { PoolwrightError } from '../../errors.ts';
import type { BrowserCommands } from '../transport/interceptor.ts';

const answer = z.looseObject({
  result: z.looseObject({ objectId: z.string().optional(), value: z.unknown().optional() }),
  exceptionDetails: z
    .looseObject({ text: z.string(), exception: z.looseObject({ description: z.string().optional() }).optional() })
    .optional(),
});

/** An object in a page, and functions that run there with it as `this`. */
export class RemoteObject {
  readonly objectId: string;
  readonly #commands: BrowserCommands;
  readonly #sessionId: string;

  constructor(commands: BrowserCommands, sessionId: string, objectId: string) {
    this.#commands = commands;
    this.#sessionId = sessionId;
    this.objectId = objectId;
  }

  /** Runs a function in the page and returns its value. @throws PoolwrightError with what was thrown there */
  async call(functionDeclaration: string, ...args: unknown[]): Promise<unknown> {
    return (await this.#run(functionDeclaration, args, true)).value;
  }

  /** The same, for a function that returns an object. */
  async derive(functionDeclaration: string, ...args: unknown[]): Promise<RemoteObject> {
    const { objectId } = await this.#run(functionDeclaration, args, false);
    if (objectId === undefined) throw new PoolwrightError('SERVICE_BAD_RESPONSE', 'the page returned no object');
    return new RemoteObject(this.#commands, this.#sessionId, objectId);
  }

  release(): void {
    this.#commands.post('Runtime.releaseObject', { objectId: this.objectId }, this.#sessionId);
  }

  async #run(functionDeclaration: string, args: unknown[], returnByValue: boolean) {
    const values = args.map((value) => (value instanceof RemoteObject ? { objectId: value.objectId } : { value }));
    const params = { objectId: this.objectId, functionDeclaration, arguments: values, returnByValue };
    const { result, exceptionDetails } = answer.parse(
      await this.#commands.call('Runtime.callFunctionOn', params, this.#sessionId),
    );
    if (exceptionDetails) {
      const { exception, text } = exceptionDetails;
      throw new PoolwrightError('SERVICE_BAD_RESPONSE', `in the page: ${exception?.description ?? text}`);
    }
    return result;
  }
}
