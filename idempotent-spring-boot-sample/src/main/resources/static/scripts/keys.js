'use strict';

const VISITOR = 'visitor-' + newKey().slice(0, 8);
const ITEM = 'Coffee coupon';
const RECOUNT_MILLIS = 500;
const RECOUNTS = 20;

/**
 * Starts a key. Each orders as a user of its own, so that the orders of a key can be
 * counted in the database.
 */
function startKey() {
  const value = newKey();
  return { value: value, user: VISITOR + ' ' + value.slice(0, 8), requests: [], orders: [] };
}

/** Counts the orders of a key in the database. Without an answer, the last count stays. */
function countOrders(key) {
  return getJson('/api/orders?userId=' + encodeURIComponent(key.user)).then((orders) => {
    key.orders = orders;
  }).catch(() => key.orders);
}

/** Sends a request of a key, calls back when it is sent and when it is answered, and resolves with its entry. */
function sendWithKey(key, request, onChange) {
  const entry = entryOf(request);
  key.requests.push(entry);
  onChange();
  return send(request).then((answer) => {
    entry.answeredAt = entry.sentAt + answer.millis;
    // Answer and order are shown together, or a sentence would say that none was made.
    return countOrders(key).then(() => {
      entry.answer = answer;
      entry.kind = kindOf(answer, request.url.endsWith('/wait') && cameDuringTheRun(key, entry));
      onChange();
      if (entry.kind === 'lost') {
        recount(key, onChange, RECOUNTS);
      }
      return entry;
    });
  });
}

/** Counts the orders of a key again for a while: a request without an answer may still be at work. */
function recount(key, onChange, times) {
  const before = key.orders.length;
  pause(RECOUNT_MILLIS).then(() => countOrders(key)).then(() => {
    if (key.orders.length !== before) {
      onChange();
    } else if (times > 1) {
      recount(key, onChange, times - 1);
    }
  });
}

/** Sends a request that belongs to no order of this page, and resolves with its entry. */
function sendOnce(request) {
  const entry = entryOf(request);
  return send(request).then((answer) => Object.assign(entry, {
    answeredAt: entry.sentAt + answer.millis, answer: answer, kind: kindOf(answer, false)
  }));
}

function entryOf(request) {
  return { kind: 'waiting', label: request.label, sentAt: Date.now(), answeredAt: null, answer: null };
}

/** Returns whether another request was on its way with this one, and none had succeeded before. */
function cameDuringTheRun(key, entry) {
  const others = key.requests.filter((other) => other !== entry);
  const hadAnswer = (other) => other.answeredAt !== null && other.answeredAt <= entry.sentAt;
  return others.some((other) => !hadAnswer(other))
      && !others.some((other) => hadAnswer(other) && other.answer.status === 201);
}
