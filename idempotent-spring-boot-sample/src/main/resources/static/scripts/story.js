'use strict';

const FATES = {
  replayed: (number) => number + ' got the stored response',
  waited: (number) => number + ' waited and got the same response',
  'in-progress': (number) => number + ' came while the first was running (409)',
  mismatched: (number) => number + (number === 1 ? ' was' : ' were') + ' rejected for another body (422)',
  refused: (number) => number + (number === 1 ? ' was' : ' were') + ' refused',
  failed: (number) => number + ' failed',
  lost: (number) => (number === 1 ? '1 response was' : number + ' responses were') + ' lost',
  waiting: (number) => number + (number === 1 ? ' is' : ' are') + ' on the way'
};

const REASONS = {
  waiting: () => 'The handler is running.',
  ran: (key, last) => last.chaos === 'fail=after-commit'
    ? 'The handler failed after the commit. Order and response were committed together, so the response is still sent.'
    : 'The key was new, so the handler ran, and its response was stored. Send it again.',
  replayed: () => 'The key was known, so the handler did not run again. The response came from the store.',
  waited: () => 'The first request was running. This handler lets repeats wait for its response (OnPending.WAIT).',
  'in-progress': () => 'The first request still held the key. A client that gets a 409 retries, and then gets the stored response.',
  mismatched: () => 'A key stands for one request body. The same key with another body is a mistake of the client: nothing ran.',
  refused: (key, last) => parsed(last.answer.body).detail || 'Nothing ran.',
  failed: (key) => key.orders.length === 0
    ? 'The transaction was rolled back and the key is free again. A retry runs.'
    : 'The order was committed, then the handler failed. LEASE has released the key: retry, and see.',
  lost: (key) => key.orders.length === 0
    ? 'The client has given up. The server has not: it is still working.'
    : 'The order was made, but its response never arrived. Retry: the stored response comes, no second order.'
};

const DOUBLE = 'LEASE keeps the key in Redis, apart from the order. The key was gone although the order was committed, '
    + 'so a repeat ran again. Under TRANSACTION, both commit together.';

function showStory(key) {
  const sent = keys.reduce((sum, each) => sum + each.requests.length, 0);
  const made = ordersMade();
  showText('sent', String(sent));
  showText('made', String(made));
  showText('sent-label', sent === 1 ? 'request sent' : 'requests sent');
  showText('made-label', (made === 1 ? 'order made' : 'orders made') + ofKeys());
  byId('made-number').className = keys.some(isDouble) ? 'bad' : '';
  if (key.requests.length > 0) {
    showText('sentence', sentenceOf(key));
    showText('reason', reasonOf(key));
  } else if (sent > 0) {
    showText('sentence', 'A new order has a new key. Nothing sent with it yet.');
    showText('reason', 'Keys belong to one handler: choosing another handler starts a new order, too.');
  }
}

function ofKeys() {
  const used = keys.filter((key) => key.requests.length > 0).length;
  return used > 1 ? ', with ' + used + ' keys' : '';
}

function isDouble(key) {
  return key.orders.length > 1;
}

function sentenceOf(key) {
  const sent = key.requests.length;
  const parts = [counted(sent, 'request') + (sent === 1 ? ' was sent' : ' were sent'), ordersPhrase(key.orders.length)];
  Object.keys(FATES).forEach((kind) => {
    const number = key.requests.filter((entry) => entry.kind === kind).length;
    if (number > 0) {
      parts.push(FATES[kind](number));
    }
  });
  return parts.join('; ') + '.';
}

function ordersPhrase(number) {
  if (number === 0) {
    return 'no order was made';
  }
  return counted(number, 'order') + (number === 1 ? ' was made' : ' were made');
}

function reasonOf(key) {
  if (isDouble(key)) {
    return DOUBLE;
  }
  const answered = key.requests.filter((entry) => entry.kind !== 'waiting');
  if (answered.length === 0) {
    return REASONS.waiting();
  }
  const last = answered.reduce((latest, entry) => entry.answeredAt >= latest.answeredAt ? entry : latest);
  return REASONS[last.kind](key, last);
}
