'use strict';

const SIDES = [
  { name: 'LEASE', prefix: 'lease', url: '/api/orders/lease' },
  { name: 'TRANSACTION', prefix: 'transaction', url: '/api/orders' }
];

/** Places an order under each guarantee, lets both fail after the commit, and retries both. */
function compare() {
  const button = byId('compare');
  button.disabled = true;
  SIDES.forEach((side) => {
    side.key = startKey(side.name);
    showVerdict(side, '', 'Running …');
  });
  sendBoth('Both fail after the commit', 'fail=after-commit')
      .then(() => sendBoth('Both retry', ''))
      .then(() => SIDES.forEach(judge))
      .catch(() => SIDES.forEach((side) => showVerdict(side, '', 'The shop does not respond.')))
      .then(() => {
        button.disabled = false;
      });
}

function sendBoth(title, chaos) {
  return exchange(title, SIDES.map((side) => {
    const command = { userId: side.key.user, item: byId('item').value, amount: 1 };
    const request = post(side.url, command, side.key.value, chaos);
    request.label = side.name + ', key ' + side.key.value;
    request.side = side;
    return request;
  }), (request) => sendWithKey(request.side.key, request, () => drawSide(request.side)));
}

function drawSide(side) {
  drawLane(byId(side.prefix + '-lane'), side.key);
}

function judge(side) {
  const orders = side.key.orders.length;
  if (orders > 1) {
    showVerdict(side, 'bad', '✗ ' + orders + ' orders for one key: ordered twice');
  } else if (orders === 1) {
    showVerdict(side, 'good', '✓ 1 order, and the retry got its response');
  } else {
    showVerdict(side, '', 'No order was made. Is Redis cut off?');
  }
}

function showVerdict(side, tone, text) {
  const verdict = byId(side.prefix + '-verdict');
  verdict.className = 'verdict ' + tone;
  verdict.textContent = text;
}

function wireComparison() {
  onClick('compare', compare);
}
