'use strict';

const MOVES = [
  { name: 'Pay', path: '/payment', command: { method: 'card' } },
  { name: 'Cancel', path: '/cancellation', command: {} }
];

/** Places an order, sends all moves of it at once, and compares the responses with the status that it has then. */
function race() {
  showResponses('race', []);
  return placeOrder().then((order) => {
    const url = '/api/orders/' + order.orderId;
    return Promise.all(MOVES.map((move) => {
      const request = post(url + move.path, move.command, newKey(), '');
      request.label = move.name + ', ' + request.label;
      return sendOnce(request);
    })).then((entries) => {
      showResponses('race', entries);
      return getJson(url).then((then) => judgeRace(entries, then.status));
    });
  });
}

function judgeRace(entries, status) {
  const winner = entries.findIndex((entry) => entry.answer.status === 200);
  const loser = entries[1 - winner];
  const told = loser && parsed(loser.answer.body).orderStatus;
  if (winner >= 0 && loser.answer.status === 409 && told === status) {
    prove('race', 'good', MOVES[winner].name + ' won: PostgreSQL says ' + status + ', and '
        + MOVES[1 - winner].name.toLowerCase() + ' got 409 with that status.');
  } else {
    const both = entries.every((entry) => entry.answer.status === 200);
    prove('race', both ? 'bad' : '', 'PostgreSQL says ' + status + '; the responses are '
        + entries.map((entry) => entry.answer.status || 'lost').join(' and ') + '.');
  }
}

/** Places an order with a key of its own, and resolves with it. */
function placeOrder() {
  const key = startKey();
  return mustSucceed(post('/api/orders', { userId: key.user, item: ITEM, amount: 1 }, key.value, ''));
}

function mustSucceed(request) {
  return send(request).then((answer) => {
    if (answer.status < 200 || answer.status > 299) {
      throw new Error(request.url + ': ' + answer.status);
    }
    return parsed(answer.body);
  });
}

function payTwice() {
  showResponses('payment', []);
  return placeOrder().then((order) => {
    const request = post('/api/orders/' + order.orderId + '/payment', { method: byId('method').value }, newKey(), '');
    return Promise.all([sendOnce(request), sendOnce(request)]).then((entries) => {
      showResponses('payment', entries);
      return getJson(effectsUrl(order.userId)).then((effects) => {
        prove('payment', effects.charges <= 1 ? 'good' : 'bad', '2 payments with one key: '
            + fatesOf({ requests: entries }).join(', ') + '; the gateway has ' + counted(effects.charges, 'charge') + '.');
      });
    });
  });
}

function effectsUrl(user) {
  return '/api/effects?userId=' + encodeURIComponent(user);
}

function wireRace() {
  onClick('start-race', () => during('start-race', 'race', race));
  onClick('pay-twice', () => during('pay-twice', 'payment', payTwice));
}
