'use strict';

const REFRESH_MILLIS = 1000;
const SHOWN_ORDERS = 10;
const FOLLOWED_ORDERS = 5;

let refreshes = 0;
let timer = null;

function ordersOf(user) {
  return '/api/orders?userId=' + encodeURIComponent(user);
}

/** Resolves with a user's orders, and with what the consumer has handled of the newest ones. */
function loadOrders(user) {
  return getJson(ordersOf(user)).then((orders) => {
    const followed = orders.slice(0, FOLLOWED_ORDERS);
    return Promise.all(followed.map((order) => getJson('/api/events?orderId=' + order.orderId)))
        .then((events) => ({ orders: orders, events: events.flat() }));
  });
}

/** Shows what the database holds, now and again after a while. */
function refresh() {
  window.clearTimeout(timer);
  refreshes += 1;
  const turn = refreshes;
  const user = byId('user').value;
  Promise.all([
    getJson('/api/stats'), loadOrders(user)
  ]).then((answers) => {
    // A later refresh may have been faster.
    if (turn === refreshes) {
      showStats(answers[0]);
      showOrders(answers[1].orders, user);
      showEvents(answers[1].events);
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

function showEvents(events) {
  const table = byId('events');
  table.textContent = '';
  byId('no-events').hidden = events.length > 0;
  events.sort((a, b) => new Date(b.handledAt) - new Date(a.handledAt)).forEach((event) => {
    const row = element(table, 'tr', '', '');
    element(row, 'td', 'id', event.eventId.slice(0, 8));
    element(row, 'td', '', event.type);
    element(row, 'td', 'id', event.orderId.slice(0, 8));
    element(row, 'td', '', new Date(event.handledAt).toLocaleTimeString());
  });
}
