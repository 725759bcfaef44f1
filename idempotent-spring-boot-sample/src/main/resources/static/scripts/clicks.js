'use strict';

const FIVE = 5;

/** The order of the first step, and the words of its feedback. */
let clicked = null;

function startClicking(url) {
  clicked = startKey();
  clicked.url = url || '/api/orders';
  byId('key').textContent = clicked.value;
  showClicks();
}

function showClicks() {
  if (clicked.requests.length === 0) {
    prove('clicks', '', 'Click a few times.');
  } else if (clicked.requests.length === 1 && clicked.orders.length === 1) {
    prove('clicks', '', '1 request, 1 order in PostgreSQL. Now click again.');
  } else {
    proveKey('clicks', clicked);
  }
  drawLane(byId('clicks-lane'), clicked.requests);
  showResponses('clicks', clicked.requests);
}

/** Sends the order with its key, a number of times at once. */
function click(amount, times, chaos) {
  const key = clicked;
  const request = post(key.url, { userId: key.user, item: byId('item').value, amount: amount }, key.value, chaos);
  const showIfCurrent = () => {
    if (key === clicked) {
      showClicks();
    }
  };
  Array(times).fill(request).forEach((each) => sendWithKey(key, each, showIfCurrent));
}

function amountOfForm() {
  return Number(byId('amount').value);
}

function clickFiveTimes() {
  startClicking(chosen('pending'));
  click(amountOfForm(), FIVE, chosen('pace'));
}

function giveFeedbackTwice() {
  const request = post('/api/feedback', { userId: VISITOR, text: byId('text').value }, null, '');
  prove('feedback', '', 'Running …');
  Promise.all([sendOnce(request), sendOnce(request)]).then((entries) => {
    const ran = entries.filter((entry) => entry.kind === 'ran').length;
    prove('feedback', ran <= 1 && entries.every((entry) => entry.kind !== 'lost') ? 'good' : '',
        '2 requests without a key: ' + fatesOf({ requests: entries }).join(', ') + '.');
    showResponses('feedback', entries);
  });
}

function wireClicks() {
  onClick('place', () => click(amountOfForm(), 1, ''));
  onClick('five-times', clickFiveTimes);
  onClick('change', () => click(amountOfForm() + 1, 1, ''));
  onClick('new-order', () => startClicking());
  onClick('give-twice', giveFeedbackTwice);
  startClicking();
}
