'use strict';

const TOGETHER = { label: 'Under TRANSACTION', prefix: 'transaction', url: '/api/orders' };
const APART = { label: 'Under LEASE', prefix: 'lease', url: '/api/orders/lease' };

/** The order that the visitor sends with troubles of choice. */
let trial = null;

/** Places an order under each guarantee, lets both fail after the commit, and retries both. */
function compare() {
  const sides = [TOGETHER, APART];
  sides.forEach((side) => {
    side.key = startKey();
    byId(side.prefix + '-verdict').className = 'verdict';
    showText(side.prefix + '-verdict', '');
  });
  return Promise.all(sides.map((side) => sendSide(side, 'fail=after-commit')))
      .then(() => Promise.all(sides.map((side) => sendSide(side, ''))))
      .then(() => {
        sides.forEach(judge);
        prove('commit', TOGETHER.key.orders.length === 1 ? 'good' : '',
            'With the key in the transaction, ' + storyOf(TOGETHER.key) + '; with the key in Redis, ' + storyOf(APART.key) + '.');
      });
}

function sendSide(side, chaos) {
  const request = post(side.url, { userId: side.key.user, item: ITEM, amount: 1 }, side.key.value, chaos);
  request.label = side.label;
  return sendWithKey(side.key, request, () => {
    drawLane(byId(side.prefix + '-lane'), side.key.requests);
    showResponses('commit', TOGETHER.key.requests.concat(APART.key.requests));
  });
}

/** Says what the retry got and how many orders there are. */
function storyOf(key) {
  const last = key.requests[key.requests.length - 1];
  const did = { replayed: 'the retry got the stored response', ran: 'the retry ran again' }[last.kind];
  return (did || 'the retry got ' + (last.answer.status || 'no answer')) + ' and there '
      + (key.orders.length === 1 ? 'is 1 order' : 'are ' + key.orders.length + ' orders');
}

function judge(side) {
  const orders = side.key.orders.length;
  byId(side.prefix + '-verdict').className = 'verdict ' + (orders > 1 ? 'bad' : orders === 1 ? 'good' : '');
  showText(side.prefix + '-verdict', orders > 1 ? '✗ ' + orders + ' orders for one key'
    : orders === 1 ? '✓ 1 order for one key' : 'No order was made. Is Redis cut off?');
}

function startTrial() {
  trial = startKey();
  trial.url = chosen('handler');
  showTrial();
}

function showTrial() {
  if (trial.requests.length > 0) {
    proveKey('trial', trial);
  } else {
    prove('trial', '', 'A new key. Nothing is sent with it yet.');
  }
  drawLane(byId('trial-lane'), trial.requests);
  showResponses('trial', trial.requests);
}

function sendTrial() {
  const key = trial;
  const loses = chosen('trouble') === 'lost';
  const request = post(key.url, { userId: key.user, item: ITEM, amount: 1 }, key.value, loses ? LATE_ANSWER : chosen('trouble'));
  request.patienceMillis = loses ? PATIENCE_MILLIS : 0;
  sendWithKey(key, request, () => {
    if (key === trial) {
      showTrial();
    }
  });
}

function wireCommit() {
  onClick('compare', () => during('compare', 'commit', compare));
  onClick('trial-send', sendTrial);
  onClick('trial-new', startTrial);
  // A key belongs to one handler.
  document.querySelectorAll('input[name=handler]').forEach((choice) => choice.addEventListener('change', startTrial));
  wireRedis();
  refreshRedis();
  startTrial();
}
