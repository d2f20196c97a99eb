import { type Follower, isSame } from './read-habits.ts';

/** Followers of one command that were sent early, and that the client has not sent itself. */
export class SentFollowers {
  #unasked: Follower[] = [];

  add(follower: Follower): void {
    this.#unasked.push(follower);
  }

  /** The client sends a follower itself. */
  asked(follower: Follower): void {
    this.#unasked = this.#unasked.filter((sent) => !isSame(sent, follower));
  }

  /** The client does something else: what was sent in vain loses worth. */
  end(): void {
    for (const follower of this.#unasked) follower.worth -= 1;
  }
}
