'use strict';

const REFRESH_MILLIS = 2000;
const KEPT_ANSWERS = 8;
const SHOWN_ORDERS = 10;
const GUARANTEES = [
  { name: 'LEASE', url: '/api/orders/lease' },
  { name: 'TRANSACTION', url: '/api/orders' }
];

const byId = (id) => document.getElementById(id);

let key = newKey();
let keyIsUsed = false;
let lastPlaced = null;
let lastOrderId = null;
let compared = [];
let refreshes = 0;
let timer = null;

function newKey() {
  // Browsers offer randomUUID on https and on the loopback address only.
  if (window.crypto.randomUUID) {
    return window.crypto.randomUUID();
  }
  const bytes = window.crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes).map((byte) => (byte + 0x100).toString(16).slice(1)).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function takeNewKey() {
  key = newKey();
  keyIsUsed = false;
  byId('key').textContent = key;
}

function chosenChaos() {
  return document.querySelector('input[name=chaos]:checked').value;
}

function post(url, command, idempotencyKey, chaos) {
  const headers = { 'Content-Type': 'application/json' };
  if (idempotencyKey) {
    headers['Idempotency-Key'] = idempotencyKey;
  }
  if (chaos) {
    headers['X-Chaos'] = chaos;
  }
  return {
    method: 'POST',
    url: url,
    headers: headers,
    body: JSON.stringify(command),
    label: idempotencyKey ? 'Key ' + idempotencyKey : 'No key'
  };
}

/** Sends a request and resolves with its answer, whatever that is. */
function send(request) {
  return new Promise((resolve) => {
    const xhr = new XMLHttpRequest();
    const start = Date.now();
    xhr.open(request.method, request.url);
    Object.keys(request.headers).forEach((name) => xhr.setRequestHeader(name, request.headers[name]));
    xhr.onloadend = () => resolve({
      status: xhr.status,
      replayed: xhr.getResponseHeader('Idempotent-Replayed') === 'true',
      millis: Date.now() - start,
      body: xhr.responseText
    });
    xhr.send(request.body);
  });
}

function element(parent, tag, className, text) {
  const child = document.createElement(tag);
  child.className = className;
  child.textContent = text;
  parent.appendChild(child);
  return child;
}

/** Sends all requests at once and shows their answers side by side. */
function exchange(title, requests) {
  const list = byId('answers');
  const row = document.createElement('li');
  element(row, 'h3', '', title);
  const cards = element(row, 'div', 'side-by-side', '');
  list.insertBefore(row, list.firstChild);
  list.scrollTop = 0;
  if (list.children.length > KEPT_ANSWERS) {
    list.removeChild(list.lastChild);
  }
  byId('no-answers').hidden = true;
  return Promise.all(requests.map((request) => {
    const card = waitingCard(cards, request);
    return send(request).then((answer) => {
      fillCard(card, answer);
      return answer;
    });
  })).then((answers) => {
    byId('announcement').textContent = title + ': '
        + answers.map((answer) => answer.status + ' ' + outcome(answer)).join(', ');
    refresh();
    return answers;
  });
}

function waitingCard(parent, request) {
  const card = element(parent, 'article', 'answer', '');
  const summary = element(card, 'p', 'summary', '');
  element(summary, 'span', 'status', '…');
  element(summary, 'span', 'outcome', 'Waiting');
  element(summary, 'span', 'millis', '');
  element(card, 'p', 'request', request.label);
  element(card, 'pre', 'body', '');
  return card;
}

function fillCard(card, answer) {
  card.classList.add(outcome(answer).toLowerCase());
  card.querySelector('.status').textContent = answer.status || '–';
  card.querySelector('.outcome').textContent = outcome(answer);
  card.querySelector('.millis').textContent = answer.millis + ' ms';
  card.querySelector('.body').textContent = pretty(answer.body);
}

function outcome(answer) {
  if (answer.replayed) {
    return 'Replayed';
  }
  if (answer.status >= 200 && answer.status < 300) {
    return 'Ran';
  }
  return answer.status >= 400 && answer.status < 500 ? 'Refused' : 'Failed';
}

function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch (notJson) {
    return body;
  }
}

function sendOrder(title, placed, times) {
  const request = post('/api/orders', placed.command, placed.key, chosenChaos());
  exchange(title, Array(times).fill(request)).then((answers) => answers.forEach(rememberOrder));
}

function rememberOrder(answer) {
  if (answer.status === 201) {
    lastOrderId = JSON.parse(answer.body).orderId;
    byId('last-order').textContent = 'Order ' + lastOrderId;
    byId('pay').disabled = false;
    byId('pay-twice').disabled = false;
  }
}

function place(title, times) {
  if (keyIsUsed) {
    takeNewKey();
  }
  keyIsUsed = true;
  const command = {
    userId: byId('user').value,
    item: byId('item').value,
    amount: Number(byId('amount').value)
  };
  lastPlaced = { command: command, key: key };
  byId('resend').disabled = false;
  byId('change').disabled = false;
  sendOrder(title, lastPlaced, times);
}

function change() {
  const command = Object.assign({}, lastPlaced.command, { amount: lastPlaced.command.amount + 1 });
  sendOrder('Changed body, same key', { command: command, key: lastPlaced.key }, 1);
}

function pay(title, times) {
  const request = post('/api/orders/' + lastOrderId + '/payment', { method: byId('method').value }, newKey(),
      chosenChaos());
  exchange(title, Array(times).fill(request));
}

function giveFeedback(title, times) {
  const request = post('/api/feedback', { userId: byId('user').value, text: byId('text').value }, null,
      chosenChaos());
  exchange(title, Array(times).fill(request));
}

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

function ordersOf(user) {
  return '/api/orders?userId=' + encodeURIComponent(user);
}

function getJson(url) {
  return send({ method: 'GET', url: url, headers: {}, body: null }).then((answer) => JSON.parse(answer.body));
}

/** Shows what the database holds, now and again after a while. */
function refresh() {
  window.clearTimeout(timer);
  refreshes += 1;
  const turn = refreshes;
  const user = byId('user').value;
  Promise.all([
    getJson('/api/stats'), getJson(ordersOf(user))
  ]).then((answers) => {
    // A later refresh may have been faster.
    if (turn === refreshes) {
      showStats(answers[0]);
      showOrders(answers[1], user);
    }
    return '';
  }).catch(() => 'The shop does not answer. Trying again.').then((trouble) => {
    if (turn === refreshes) {
      byId('connection').textContent = trouble;
      timer = window.setTimeout(refresh, REFRESH_MILLIS);
    }
  });
}

function showStats(stats) {
  Object.keys(stats).forEach((name) => {
    byId('stat-' + name).textContent = stats[name];
  });
}

function showOrders(orders, user) {
  byId('orders-title').textContent = 'Orders of ' + user + ' (' + orders.length + ')';
  const table = byId('orders');
  table.textContent = '';
  orders.slice(0, SHOWN_ORDERS).forEach((order) => {
    const row = element(table, 'tr', '', '');
    element(row, 'td', 'id', order.orderId.slice(0, 8));
    element(row, 'td', '', order.item);
    element(row, 'td', 'number', order.amount);
    element(element(row, 'td', '', ''), 'span', 'badge ' + order.status.toLowerCase(), order.status);
    element(row, 'td', '', new Date(order.createdAt).toLocaleTimeString());
  });
}

function onClick(id, action) {
  byId(id).addEventListener('click', action);
}

function onSubmit(id, action) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    action();
  });
}

onSubmit('order', () => place('Place order', 1));
onClick('place-twice', () => place('Double-click', 2));
onClick('resend', () => sendOrder('Resend, same key', lastPlaced, 1));
onClick('change', change);
onClick('new-key', takeNewKey);
onClick('fail-both', failBoth);
onClick('retry-both', retryBoth);
onSubmit('payment', () => pay('Pay', 1));
onClick('pay-twice', () => pay('Double-click on Pay', 2));
onSubmit('feedback', () => giveFeedback('Feedback', 1));
onClick('give-twice', () => giveFeedback('Double-click on Send', 2));
byId('user').addEventListener('change', refresh);

byId('key').textContent = key;
refresh();
