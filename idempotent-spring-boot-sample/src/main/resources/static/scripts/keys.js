'use strict';

const VISITOR = 'visitor-' + newKey().slice(0, 8);

/** The keys that this visitor has used, the newest last. */
const keys = [];

/**
 * Starts a key. Each orders as a user of its own, so that the orders of a key can be
 * counted in the database.
 */
function startKey(userPrefix) {
  const value = newKey();
  return { value: value, user: userPrefix + ' ' + value.slice(0, 8), requests: [], orders: [] };
}

function ordersOf(user) {
  return '/api/orders?userId=' + encodeURIComponent(user);
}

function ordersMade() {
  return keys.reduce((sum, key) => sum + key.orders.length, 0);
}

/** Counts the orders of a key in the database. Without an answer, the last count stays. */
function countOrders(key) {
  return getJson(ordersOf(key.user)).then((orders) => {
    key.orders = orders;
  }).catch(() => key.orders);
}

/** Sends a request of a key, and calls back when it is sent and when it is answered. */
function sendWithKey(key, request, onChange) {
  const entry = {
    kind: 'waiting',
    chaos: request.headers['X-Chaos'],
    sentAt: Date.now(),
    answeredAt: null,
    answer: null
  };
  key.requests.push(entry);
  onChange();
  return send(request).then((answer) => {
    entry.answeredAt = entry.sentAt + answer.millis;
    // Answer and order are shown together, or a sentence would say that none was made.
    return countOrders(key).then(() => {
      entry.answer = answer;
      entry.kind = kindOf(answer, request.url.endsWith('/wait') && cameDuringTheRun(key, entry));
      onChange();
      return answer;
    });
  });
}

/** Returns whether another request was on its way with this one, and none had succeeded before. */
function cameDuringTheRun(key, entry) {
  const others = key.requests.filter((other) => other !== entry);
  const hadAnswer = (other) => other.answeredAt !== null && other.answeredAt <= entry.sentAt;
  return others.some((other) => !hadAnswer(other))
      && !others.some((other) => hadAnswer(other) && other.answer.status === 201);
}
