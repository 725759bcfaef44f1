'use strict';

const MOVES = [
  { name: 'Pay', prefix: 'pay', path: '/payment', command: { method: 'card' } },
  { name: 'Cancel', prefix: 'cancel', path: '/cancellation', command: {} }
];

/** Places an order, sends all moves of it at once, and shows the status that it has then. */
function race() {
  const button = byId('start-race');
  button.disabled = true;
  showText('race-result', '');
  MOVES.forEach((move) => showVerdict(move, '', 'Running …'));
  const key = startKey(VISITOR);
  const command = { userId: key.user, item: byId('item').value, amount: 1 };
  send(post('/api/orders', command, key.value, '')).then((placed) => {
    if (placed.status !== 201) {
      throw new Error('No order');
    }
    const url = '/api/orders/' + parsed(placed.body).orderId;
    return sendMoves(url).then((answers) => {
      answers.forEach((answer, index) => judgeMove(MOVES[index], answer));
      return getJson(url);
    });
  }).then((order) => showText('race-result', 'Order ' + order.orderId.slice(0, 8) + ' in PostgreSQL: ' + order.status))
      .catch(() => MOVES.forEach((move) => showVerdict(move, '', 'The shop did not respond.')))
      .then(() => {
        button.disabled = false;
      });
}

function sendMoves(url) {
  return exchange('Pay and cancel at once', MOVES.map((move) => {
    const request = post(url + move.path, move.command, newKey(), '');
    request.label = move.name + ', ' + request.label;
    return request;
  }), send);
}

function judgeMove(move, answer) {
  const status = parsed(answer.body).orderStatus;
  if (answer.status === 200) {
    showVerdict(move, 'good', '✓ 200: this request has moved the order');
  } else if (status) {
    showVerdict(move, '', answer.status + ': the order was ' + status + ' before');
  } else {
    showVerdict(move, '', 'No result: status ' + answer.status);
  }
}

function wireRace() {
  onClick('start-race', race);
}
