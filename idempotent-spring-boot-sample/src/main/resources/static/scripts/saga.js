'use strict';

const CHECKOUT = '/api/checkout';
const OWNERS = '/api/chaos/checkout';
const POLL_MILLIS = 300;
const STEP_MILLIS = 500;
const LATE_MILLIS = 60000;
const ATTEMPTS = 120;

/** The checkout that the page shows. */
let shown = null;

/** Starts a checkout with a new key: here, or in a second JVM if one is to crash. */
function checkOut() {
  const outcome = OUTCOMES_OF_SERVICES[chosen('outcome')];
  const crash = chosen('crash');
  const key = newKey();
  const command = {
    userId: VISITOR + ' ' + key.slice(0, 8), item: 'Coffee coupon', amount: outcome.amount, method: outcome.method,
    crash: crash || null, delay: STEP_MILLIS
  };
  shown = { key: key, command: command, id: null, status: '', seen: 0, owner: null, settled: crash === '', endedAt: 0 };
  const checkout = shown;
  byId('check-out').disabled = true;
  byId('saga-log').replaceChildren();
  byId('saga-halted').hidden = true;
  drawSteps(null);
  showText('saga-effects', '');
  showText('saga-reason', '');
  showText('saga-sentence', crash ? 'A second JVM takes it. Its first start takes some seconds.' : 'Starting …');
  byId('saga-sentence').className = '';
  logLine('The request is sent, with the key ' + key.slice(0, 8) + '…', Date.now());
  send(post('/api/chaos/gateway', { refunds: outcome.refunds }, null, '')).then(() => startAt(checkout, crash ? OWNERS + '/start' : CHECKOUT + '/start', ATTEMPTS));
}

/** Sends the request until it is accepted. After a 503, a second JVM gets it again, with the same key. */
function startAt(checkout, url, attempts) {
  const followed = window.setInterval(() => followOwners(checkout), POLL_MILLIS);
  return send(post(url, checkout.command, checkout.key, '')).then((answer) => {
    window.clearInterval(followed);
    if (answer.status === 202) {
      checkout.id = parsed(answer.body).id;
      logLine((answer.replayed ? 'It was started: this is the stored response. ' : 'It is started. ')
          + 'Its id: ' + checkout.id.slice(0, 8) + '…', Date.now());
      poll(checkout);
    } else if (attempts === 0 || (answer.status >= 400 && answer.status < 500 && answer.status !== 409)) {
      failed(checkout, answer);
    } else if (answer.status === 503) {
      showText('saga-sentence', parsed(answer.body).detail || 'The shop does not respond.');
      window.setTimeout(() => startAt(checkout, url, attempts - 1), STEP_MILLIS);
    } else {
      if (url !== CHECKOUT + '/start') {
        logLine('No response. The same request is sent again, to this JVM.', Date.now());
      }
      window.setTimeout(() => startAt(checkout, CHECKOUT + '/start', attempts - 1), STEP_MILLIS);
    }
  });
}

function failed(checkout, answer) {
  showText('saga-sentence', parsed(answer.body).detail || 'The shop does not respond.');
  byId('saga-sentence').className = 'bad';
  byId('check-out').disabled = false;
}

/** Shows the checkout, now and again until it has ended and its first owner is heard of. */
function poll(checkout) {
  if (checkout !== shown) {
    return;
  }
  Promise.all([getJson(CHECKOUT + '/' + checkout.id), getJson('/api/effects?userId=' + encodeURIComponent(checkout.command.userId)),
    followOwners(checkout)]).then((answers) => {
    showSaga(answers[0], ownerText(checkout, answers[0].status));
    showText('saga-effects', effectsText(answers[1]));
    logStatus(checkout, answers[0]);
    return isOver(checkout);
  }).catch(() => false).then((over) => {
    byId('check-out').disabled = !over && checkout.status !== 'HALTED';
    if (!over) {
      window.setTimeout(() => poll(checkout), POLL_MILLIS);
    }
  });
}

function logStatus(checkout, saga) {
  if (saga.status !== checkout.status) {
    checkout.status = saga.status;
    checkout.endedAt = Date.now();
    logLine(saga.status + (saga.reason ? ': ' + shortened(saga.reason) : ''), Date.now());
  }
}

/** A paused owner continues after its checkout has ended. */
function isOver(checkout) {
  const ended = checkout.status === 'COMPLETED' || checkout.status === 'COMPENSATED';
  return ended && (checkout.settled || Date.now() - checkout.endedAt > LATE_MILLIS);
}

/** Logs what has happened to the second JVMs that were given the checkout. */
function followOwners(checkout) {
  return ownerEvents().then((events) => events.filter((event) => event.number > checkout.seen
      && checkout.key.startsWith(event.checkout || '-')).forEach((event) => {
    checkout.seen = event.number;
    checkout.owner = event.what === 'READY' ? checkout.owner : event;
    checkout.settled = checkout.settled || ['HALTS', 'FENCED', 'ENDED'].includes(event.what);
    if (checkout === shown) {
      logLine('JVM ' + event.pid + ' ' + OWNER_EVENTS[event.what](event), event.at);
    }
  }));
}

function ownerEvents() {
  return get(OWNERS).then((answer) => parsed(answer.body).events || []);
}

function resolve(action, note) {
  logLine(action === 'retry' ? 'The operator lets the refund be tried again.' : 'The operator skips the refund: ' + note, Date.now());
  return send(post(CHECKOUT + '/' + shown.id + '/' + action, { step: 'payment', note: note }, null, '')).then((answer) => {
    if (answer.status >= 300) {
      logLine(parsed(answer.body).detail || 'The shop does not respond.', Date.now());
    }
  });
}

function addChoices(id, name, choices) {
  Object.keys(choices).forEach((value, i) => {
    const label = element(byId(id), 'label', '', '');
    const input = element(label, 'input', '', '');
    input.type = 'radio';
    input.name = name;
    input.value = value;
    input.checked = i === 0;
    label.appendChild(document.createTextNode(' '));
    element(label, 'span', '', choices[value].text || choices[value]);
  });
}

function wireSaga() {
  addChoices('saga-outcomes', 'outcome', OUTCOMES_OF_SERVICES);
  addChoices('saga-crashes', 'crash', CRASHES);
  drawSteps(null);
  get(OWNERS).then((answer) => {
    byId('saga-crashes').disabled = answer.status !== 200;
  });
  onSubmit('saga', checkOut);
  onClick('saga-retry', () => send(post('/api/chaos/gateway', { refunds: true }, null, '')).then(() => resolve('retry', null)));
  onClick('saga-skip', () => resolve('skip', byId('saga-note').value));
  // The refund is called only if the points are refused.
  document.querySelector('input[name=crash][value=in-compensation]').addEventListener('change', () => {
    if (chosen('outcome') === 'accept' || chosen('outcome') === 'declined') {
      document.querySelector('input[name=outcome][value=refused]').checked = true;
    }
  });
}
