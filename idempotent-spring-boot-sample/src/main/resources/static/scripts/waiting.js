'use strict';

const BANK = '/api/bank/reports';

const SIGNALS = { confirmed: 'the bank', approved: 'an approval' };

/** The last checkout that was started here, and what was told of its signals. */
let waiting = null;

/** Starts a checkout that waits for the bank or for an approval. */
function startWaiting(method) {
  const key = newKey();
  const checkout = { id: null, user: VISITOR + ' ' + key.slice(0, 8), method: method, told: '' };
  const command = { userId: checkout.user, item: ITEM, amount: OUTCOMES_OF_SERVICES.accept.amount, method: method, crash: null, delay: 0 };
  waiting = checkout;
  return send(post(CHECKOUT + '/start', command, key, '')).then((answer) => {
    checkout.id = parsed(answer.body).id;
    return checkout.id ? followWaiting(checkout) : prove('wait', 'bad', parsed(answer.body).detail || UNREACHABLE);
  });
}

/** Shows the checkout until it waits or has ended. */
function followWaiting(checkout) {
  return Promise.all([getJson(CHECKOUT + '/' + checkout.id), getJson(effectsUrl(checkout.user))]).then(([saga, effects]) => {
    if (checkout !== waiting) {
      return null;
    }
    const ended = saga.status === 'COMPLETED' || saga.status === 'COMPENSATED';
    byId('wait-signal').disabled = !saga.waiting;
    byId('wait-cancel').disabled = ended;
    prove('wait', ended ? (isWhole({ command: OUTCOMES_OF_SERVICES.accept }, saga, effects) ? 'good' : 'bad') : '',
      waitingSentence(checkout, saga, effects));
    return saga.waiting || ended || saga.status === 'HALTED' ? null
      : pause(POLL_MILLIS).then(() => followWaiting(checkout));
  });
}

function waitingSentence(checkout, saga, effects) {
  if (saga.waiting) {
    return checkout.told + 'The checkout waits for ' + SIGNALS[saga.waiting.name] + ', until ' + new Date(saga.waiting.until).toLocaleTimeString()
        + ', as a row without a thread or a connection: ' + effectsText(effects) + '.';
  }
  const end = { COMPLETED: 'The checkout is complete: ', COMPENSATED: 'The checkout is undone: ' }[saga.status];
  return checkout.told + (end ? end + effectsText(effects) + '.' : RUNNING[saga.status] || shortened(saga.reason) + '.');
}

/** The bank reports twice, as webhooks do; an approval is given once. */
function sendSignal() {
  const checkout = waiting;
  const report = { id: newKey(), checkout: checkout.id, reference: 'transfer-' + checkout.id.slice(0, 8) };
  const once = () => send(checkout.method === 'transfer' ? post(BANK, report, null, '')
    : post(CHECKOUT + '/' + checkout.id + '/approval', {}, null, ''));
  return once().then((first) => checkout.method !== 'transfer' ? [first] : once().then((second) => [first, second])).then((answers) => {
    checkout.told = answers.map((answer) => (parsed(answer.body).result || answer.status) + (answer.replayed ? ', the stored response' : '')).join('; then ') + '. ';
    return pause(POLL_MILLIS).then(() => followWaiting(checkout));
  });
}

function cancelWaiting() {
  const checkout = waiting;
  return send(post(CHECKOUT + '/' + checkout.id + '/cancellation', {}, null, '')).then((answer) => {
    checkout.told = 'Cancelled: ' + (parsed(answer.body).result || answer.status) + '. ';
    return pause(POLL_MILLIS).then(() => followWaiting(checkout));
  });
}

function wireWaiting() {
  onClick('wait-transfer', () => startWaiting('transfer'));
  onClick('wait-invoice', () => startWaiting('invoice'));
  onClick('wait-signal', sendSignal);
  onClick('wait-cancel', cancelWaiting);
}
