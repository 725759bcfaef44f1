'use strict';

const GUARANTEES = [
  { name: 'LEASE', url: '/api/orders/lease' },
  { name: 'TRANSACTION', url: '/api/orders' }
];

let compared = [];

/** Places an order under each guarantee, by a user of its own whose orders can be counted. */
function failBoth() {
  compared = GUARANTEES.map((guarantee) => {
    const orderKey = newKey();
    return {
      name: guarantee.name,
      url: guarantee.url,
      key: orderKey,
      command: { userId: guarantee.name + ' ' + orderKey, item: byId('item').value, amount: 1 }
    };
  });
  compared.forEach((side) => cell(side, 'retry').textContent = '–');
  sendBoth('Fail both after the commit', 'answer', 'fail=after-commit');
}

function retryBoth() {
  sendBoth('Retry both', 'retry', '');
}

function sendBoth(title, column, chaos) {
  const sides = compared;
  byId('fail-both').disabled = true;
  byId('retry-both').disabled = true;
  exchange(title, sides.map((side) => {
    const request = post(side.url, side.command, side.key, chaos);
    request.label = side.name + ', key ' + side.key;
    return request;
  })).then((answers) => {
    answers.forEach((answer, i) => {
      cell(sides[i], column).textContent = answer.status + ' ' + outcome(answer);
    });
    return Promise.all(sides.map((side) => getJson(ordersOf(side.command.userId))));
  }).then((orders) => {
    orders.forEach((list, i) => {
      cell(sides[i], 'orders').textContent = list.length;
    });
  }).catch(() => '').then(() => {
    byId('fail-both').disabled = false;
    byId('retry-both').disabled = false;
  });
}

function cell(side, column) {
  return byId(side.name.toLowerCase() + '-' + column);
}
