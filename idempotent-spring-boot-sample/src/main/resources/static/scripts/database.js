'use strict';

const REFRESH_MILLIS = 1000;
const SHOWN_ORDERS = 10;
const FOLLOWED_KEYS = 5;
const FOLLOWED_ORDERS = 5;

let refreshes = 0;
let timer = null;

/** Shows what the database holds, now and again after a while. */
function refresh() {
  window.clearTimeout(timer);
  refreshes += 1;
  const turn = refreshes;
  const before = ordersMade();
  const followed = keys.filter((key) => key.requests.length > 0).slice(-FOLLOWED_KEYS);
  Promise.all([getJson('/api/stats'), Promise.all(followed.map(countOrders)), refreshRedis()]).then((answers) => {
    const orders = followed.flatMap((key) => key.orders).sort((a, b) => new Date(b.createdAt) - new Date(a.createdAt));
    return loadEvents(orders).then((events) => {
      // A later refresh may have been faster.
      if (turn === refreshes) {
        showStats(answers[0]);
        showOrders(orders);
        showEvents(events);
        if (ordersMade() !== before) {
          showKeys();
        }
      }
      return '';
    });
  }).catch(() => 'The shop does not respond. Trying again.').then((trouble) => {
    if (turn === refreshes) {
      showText('connection', trouble);
      timer = window.setTimeout(refresh, REFRESH_MILLIS);
    }
  });
}

/** Resolves with what the consumer has handled of the newest orders. */
function loadEvents(orders) {
  return Promise.all(orders.slice(0, FOLLOWED_ORDERS).map((order) => getJson('/api/events?orderId=' + order.orderId)))
      .then((events) => events.flat());
}

function showStats(stats) {
  Object.keys(stats).forEach((name) => showText('stat-' + name, String(stats[name])));
}

function showOrders(orders) {
  const table = emptied('orders', orders);
  orders.slice(0, SHOWN_ORDERS).forEach((order) => {
    const row = element(table, 'tr', '', '');
    element(row, 'td', 'id', order.orderId.slice(0, 8));
    element(row, 'td', '', order.item);
    element(row, 'td', 'number', order.amount);
    element(element(row, 'td', '', ''), 'span', 'tag ' + order.status.toLowerCase(), order.status);
    element(row, 'td', '', new Date(order.createdAt).toLocaleTimeString());
  });
}

function showEvents(events) {
  const table = emptied('events', events);
  events.sort((a, b) => new Date(b.handledAt) - new Date(a.handledAt)).forEach((event) => {
    const row = element(table, 'tr', '', '');
    element(row, 'td', 'id', '…' + event.eventId.slice(-8));
    element(row, 'td', '', event.type);
    element(row, 'td', 'id', event.orderId.slice(0, 8));
    element(row, 'td', '', new Date(event.handledAt).toLocaleTimeString());
  });
}

function emptied(id, rows) {
  byId('no-' + id).hidden = rows.length > 0;
  byId(id + '-table').hidden = rows.length === 0;
  byId(id).replaceChildren();
  return byId(id);
}
