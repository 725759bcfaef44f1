'use strict';

const LOSE_THE_ANSWER = 'lost';
const PATIENCE_MILLIS = 500;
const LATE_ANSWER = 'delay=1500';
const FIVE = 5;

const HANDLERS = {
  '/api/orders': 'TRANSACTION',
  '/api/orders/wait': 'repeats wait',
  '/api/orders/lease': 'LEASE'
};

let current = null;

function startOrder() {
  if (!current || current.requests.length > 0) {
    current = startKey(VISITOR);
    keys.push(current);
  }
  current.url = chosen('handler');
  current.handler = HANDLERS[current.url];
  byId('key').textContent = current.value;
  showKeys();
}

function showKeys() {
  showStory(current);
  drawTimeline();
}

/** Sends the order with the key of this order, a number of times at once. */
function sendOrder(title, amount, times) {
  const key = current;
  const command = { userId: key.user, item: byId('item').value, amount: amount };
  const loses = chosen('trouble') === LOSE_THE_ANSWER;
  const request = post(key.url, command, key.value, loses ? LATE_ANSWER : chosen('trouble'));
  request.patienceMillis = loses ? PATIENCE_MILLIS : 0;
  exchange(title, Array(times).fill(request), (each) => sendWithKey(key, each, showKeys))
      .then((answers) => answers.forEach(offerPayment));
}

function amountOfForm() {
  return Number(byId('amount').value);
}

function wireOrder() {
  onSubmit('order', () => sendOrder('Place order', amountOfForm(), 1));
  onClick('five-times', () => sendOrder('5 at once', amountOfForm(), FIVE));
  onClick('change', () => sendOrder('Same key, other amount', amountOfForm() + 1, 1));
  onClick('new-order', startOrder);
  document.querySelectorAll('input[name=handler]').forEach((choice) => choice.addEventListener('change', startOrder));
}
