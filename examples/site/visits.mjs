import { randomUUID } from 'node:crypto';

/** What the tea house remembers of one browser: `user` is null until it logs in. */
function newVisit() {
  return { user: null, orders: new Map(), giftCards: new Map(), list: [], nextItem: 1 };
}

const MAX_VISITS = 1000;

/** Visits by cookie. Bounded: the oldest is forgotten when there are too many. */
export function createVisits() {
  const visits = new Map();
  return {
    open(id) {
      const known = id === undefined ? undefined : visits.get(id);
      if (known) return { id, visit: known };
      const fresh = { id: randomUUID(), visit: newVisit() };
      visits.set(fresh.id, fresh.visit);
      if (visits.size > MAX_VISITS) visits.delete(visits.keys().next().value);
      return fresh;
    },
  };
}
