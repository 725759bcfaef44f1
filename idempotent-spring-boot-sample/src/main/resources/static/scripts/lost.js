'use strict';

const PATIENCE_MILLIS = 500;
const LATE_ANSWER = 'delay=1500';
const RETRY_MILLIS = 500;
const MOST_RETRIES = 40;

/** Sends an order whose answer is late, gives up, and retries with the same key until there is an answer. */
function loseAnAnswer() {
  return orderAndRetry(LATE_ANSWER, PATIENCE_MILLIS, (key) => {
    const answered = key.requests.length;
    if (key.requests[0].kind === 'lost' && key.requests[answered - 1].kind === 'replayed' && key.orders.length === 1) {
      prove('lost', 'good', 'The answer was lost, the order was not: request ' + answered
          + ' got the stored response, and PostgreSQL has 1 order.');
    } else {
      proveKey('lost', key);
    }
  });
}

/** Sends an order that fails before its commit, and retries. */
function failBeforeTheCommit() {
  return orderAndRetry('fail=before-commit', 0, (key) => {
    if (key.requests[0].kind === 'failed' && key.requests[key.requests.length - 1].kind === 'ran' && key.orders.length === 1) {
      prove('lost', 'good', 'The request that failed has left nothing: its retry ran, and PostgreSQL has 1 order.');
    } else {
      proveKey('lost', key);
    }
  });
}

function orderAndRetry(chaos, patience, conclude) {
  const key = startKey();
  const first = post('/api/orders', { userId: key.user, item: ITEM, amount: 1 }, key.value, chaos);
  first.patienceMillis = patience;
  const retry = post('/api/orders', { userId: key.user, item: ITEM, amount: 1 }, key.value, '');
  const draw = () => {
    drawLane(byId('lost-lane'), key.requests);
    showResponses('lost', key.requests);
  };
  return sendWithKey(key, first, draw).then(() => insist(key, retry, draw, MOST_RETRIES)).then(() => conclude(key));
}

/** Sends a request until it has an answer that is not "retry later". */
function insist(key, request, draw, retries) {
  return sendWithKey(key, request, draw).then((entry) =>
    retries > 0 && ['lost', 'in-progress'].includes(entry.kind)
      ? pause(RETRY_MILLIS).then(() => insist(key, request, draw, retries - 1)) : entry);
}

function wireLost() {
  onClick('lose', () => during('lose', 'lost', loseAnAnswer));
  onClick('fail-before', () => during('fail-before', 'lost', failBeforeTheCommit));
}
