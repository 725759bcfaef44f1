'use strict';

const FATES = {
  ran: (number) => number + ' ran',
  replayed: (number, key) => number + ' got the stored response' + (hasOneBody(key) ? ', byte for byte' : ''),
  waited: (number, key) => number + ' waited for the stored response' + (hasOneBody(key) ? ', byte for byte' : ''),
  'in-progress': (number) => number + ' came during the run and must retry (409)',
  mismatched: (number) => number + (number === 1 ? ' was' : ' were') + ' rejected for another body (422)',
  refused: (number, key) => number + (number === 1 ? ' was' : ' were') + ' refused (' + statusesOf(key, 'refused') + ')',
  failed: (number, key) => number + ' failed (' + statusesOf(key, 'failed') + ')',
  lost: (number) => number + ' lost its answer',
  waiting: (number) => number + (number === 1 ? ' is' : ' are') + ' on the way'
};

const MARKS = { good: '✓ ', bad: '✗ ' };

const UNREACHABLE = 'The shop does not respond.';

/**
 * Says in one sentence what a step has shown.
 * @param tone 'good' or 'bad', or nothing if it proves neither
 */
function prove(step, tone, sentence) {
  byId(step + '-proof').className = 'proof ' + tone;
  showText(step + '-proof', (MARKS[tone] || '') + sentence);
}

/** Says what the requests of a key have come to, and how many orders the database has for it. */
function proveKey(step, key) {
  const orders = key.orders.length;
  const isWaiting = key.requests.some((entry) => entry.kind === 'waiting');
  const tone = orders > 1 ? 'bad' : orders === 1 && key.requests.length > 1 && !isWaiting ? 'good' : '';
  prove(step, tone, counted(key.requests.length, 'request') + ' with one key, '
      + (orders === 0 ? 'no order' : counted(orders, 'order')) + ' in PostgreSQL: ' + fatesOf(key).join(', ') + '.');
}

function fatesOf(key) {
  return Object.keys(FATES).map((kind) => [kind, key.requests.filter((entry) => entry.kind === kind).length])
      .filter((fate) => fate[1] > 0)
      .map(([kind, number]) => FATES[kind](number, key));
}

/** Returns whether at least two requests have succeeded, all with the same bytes. */
function hasOneBody(key) {
  const bodies = key.requests.filter((entry) => entry.answer && entry.answer.status >= 200 && entry.answer.status < 300)
      .map((entry) => entry.answer.body);
  return bodies.length > 1 && new Set(bodies).size === 1;
}

function statusesOf(key, kind) {
  return Array.from(new Set(key.requests.filter((entry) => entry.kind === kind).map((entry) => entry.answer.status))).join(', ');
}

/** Disables a button while an action runs, and says so if the shop does not respond. */
function during(button, step, action) {
  byId(button).disabled = true;
  prove(step, '', 'Running …');
  return action().catch(() => prove(step, '', UNREACHABLE)).then(() => {
    byId(button).disabled = false;
  });
}

function pause(millis) {
  return new Promise((resolve) => window.setTimeout(resolve, millis));
}
