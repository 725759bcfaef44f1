'use strict';

const HANDLER_POLL_MILLIS = 300;
const HANDLER_ATTEMPTS = 3;
const SHIPMENT_HANDLERS = [{ prefix: 'pack' }, { prefix: 'reward' }];

/** Places, pays and ships an order whose handlers fail twice, and shows what they do. */
function ship() {
  const button = byId('ship');
  button.disabled = true;
  showHandlers('', 'Waiting for the shipment …');
  const key = startKey(VISITOR);
  mustSucceed(post('/api/orders', { userId: key.user, item: byId('item').value, amount: 1 }, key.value, ''))
      .then((order) => mustSucceed(post(paths(order).payment, { method: 'card' }, newKey(), ''))
          .then(() => mustSucceed(post(paths(order).shipment, {}, newKey(), 'fail=handlers')))
          .then(() => followHandlers(order, key.user)))
      .catch(() => showHandlers('', 'The shop did not respond.'))
      .then(() => {
        button.disabled = false;
      });
}

function paths(order) {
  const url = '/api/orders/' + order.orderId;
  return { payment: url + '/payment', shipment: url + '/shipment', handlers: url + '/handlers' };
}

function mustSucceed(request) {
  return send(request).then((answer) => {
    if (answer.status < 200 || answer.status > 299) {
      throw new Error(request.url + ': ' + answer.status);
    }
    return parsed(answer.body);
  });
}

/** Shows attempts and effects until both handlers have succeeded. */
function followHandlers(order, user) {
  return Promise.all([getJson(paths(order).handlers), getJson('/api/effects?userId=' + encodeURIComponent(user))])
      .then(([handled, effects]) => {
        showHandler(SHIPMENT_HANDLERS[0], handled.packAttempts, counted(handled.parcels, 'parcel'), handled.parcels > 0);
        showHandler(SHIPMENT_HANDLERS[1], handled.rewardAttempts, counted(effects.credits, 'credit'),
            handled.rewardAttempts >= HANDLER_ATTEMPTS);
        if (handled.parcels === 0 || handled.rewardAttempts < HANDLER_ATTEMPTS) {
          return new Promise((resolve) => window.setTimeout(resolve, HANDLER_POLL_MILLIS))
              .then(() => followHandlers(order, user));
        }
        return null;
      });
}

function showHandler(handler, attempts, effect, done) {
  showVerdict(handler, done ? 'good' : '', (done ? '✓ ' : '') + counted(attempts, 'attempt') + ', ' + effect);
}

function showHandlers(tone, text) {
  SHIPMENT_HANDLERS.forEach((handler) => showVerdict(handler, tone, text));
}

function wireShipment() {
  onClick('ship', ship);
}
