'use strict';

const HANDLER_POLL_MILLIS = 300;
const HANDLER_ATTEMPTS = 3;
const EVENTS_OF_SHIPMENT = 3;

/** Places, pays and ships an order whose handlers fail twice, and shows what they do. */
function ship() {
  showHandler('pack', '');
  showHandler('reward', '');
  byId('events').replaceChildren();
  return placeOrder().then((order) => {
    const url = '/api/orders/' + order.orderId;
    return mustSucceed(post(url + '/payment', { method: 'card' }, newKey(), ''))
        .then(() => mustSucceed(post(url + '/shipment', {}, newKey(), 'fail=handlers')))
        .then(() => followShipment(order));
  });
}

/** Shows attempts, effects and events until both handlers have succeeded and all events were handled. */
function followShipment(order) {
  return Promise.all([getJson('/api/orders/' + order.orderId + '/handlers'), getJson(effectsUrl(order.userId)),
    getJson('/api/events?orderId=' + order.orderId)]).then(([handled, effects, events]) => {
    showHandler('pack', counted(handled.packAttempts, 'attempt') + ', ' + counted(handled.parcels, 'parcel'));
    showHandler('reward', counted(handled.rewardAttempts, 'attempt') + ', ' + counted(effects.points, 'point'));
    showEvents(events);
    const done = handled.parcels > 0 && handled.rewardAttempts >= HANDLER_ATTEMPTS && effects.points > 0;
    if (done && events.length >= EVENTS_OF_SHIPMENT) {
      judgeShipment(handled, effects, events);
      return null;
    }
    return pause(HANDLER_POLL_MILLIS).then(() => followShipment(order));
  });
}

function judgeShipment(handled, effects, events) {
  const once = new Set(events.map((event) => event.eventId)).size === events.length;
  const right = once && handled.parcels === 1 && effects.points === 1;
  prove('shipment', right ? 'good' : 'bad', counted(handled.packAttempts, 'attempt') + ' packed '
      + counted(handled.parcels, 'parcel') + ', ' + counted(handled.rewardAttempts, 'attempt') + ' credited '
      + counted(effects.points, 'point') + ', and the consumer has handled ' + counted(events.length, 'event')
      + (once ? ', each once.' : ', some twice.'));
}

function showHandler(handler, text) {
  showText(handler + '-verdict', text);
}

function showEvents(events) {
  const list = byId('events');
  list.replaceChildren();
  events.slice().sort((a, b) => new Date(a.handledAt) - new Date(b.handledAt)).forEach((event) => {
    const row = element(list, 'li', '', '');
    element(row, 'span', 'quiet', new Date(event.handledAt).toLocaleTimeString());
    element(row, 'b', '', event.type);
    element(row, 'code', 'quiet', event.eventId);
  });
}

function wireShipment() {
  onClick('ship', () => during('ship', 'shipment', ship));
}
