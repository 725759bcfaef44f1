'use strict';

const CHECKOUT = '/api/checkout';
const OWNERS = '/api/chaos/checkout';
const POLL_MILLIS = 300;
const STEP_MILLIS = 500;
const LATE_MILLIS = 60000;
const ATTEMPTS = 120;

/** How long after the end of a checkout nothing is heard of a second JVM that has not begun it. */
const SILENCE_MILLIS = 2000;
const CHECKOUTS = 5;

/** The checkout that the page shows. */
let shown = null;

/**
 * Starts a checkout with a new key: here, or in a second JVM if one is to crash.
 * @param left how many others may follow if another JVM takes it before the second one begins it
 */
function checkOut(left) {
  const outcome = OUTCOMES_OF_SERVICES[chosen('outcome')];
  const crash = chosen('crash');
  const key = newKey();
  const command = {
    userId: VISITOR + ' ' + key.slice(0, 8), item: ITEM, amount: outcome.amount, method: outcome.method,
    crash: crash || null, delay: STEP_MILLIS
  };
  shown = { key: key, command: command, id: null, status: '', seen: 0, owner: null, settled: crash === '', endedAt: 0, left: left };
  const checkout = shown;
  byId('check-out').disabled = true;
  byId('saga-log').replaceChildren();
  byId('saga-halted').hidden = true;
  drawSteps(null);
  prove('saga', '', crash ? 'A second process takes the checkout. Its first start takes some seconds.' : 'Starting …');
  logLine('The request is sent, with the key ' + key.slice(0, 8) + '…', Date.now());
  send(post('/api/chaos/gateway', { refunds: outcome.refunds }, null, '')).then(() => startAt(checkout, startUrl(crash), ATTEMPTS));
}

function startUrl(crash) {
  return (crash ? OWNERS : CHECKOUT) + '/start';
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
      prove('saga', '', parsed(answer.body).detail || UNREACHABLE);
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
  prove('saga', 'bad', parsed(answer.body).detail || UNREACHABLE);
  byId('check-out').disabled = false;
}

/** Shows the checkout, now and again until it has ended and its first owner is heard of. */
function poll(checkout) {
  if (checkout !== shown) {
    return;
  }
  Promise.all([getJson(CHECKOUT + '/' + checkout.id), getJson(effectsUrl(checkout.command.userId)),
    followOwners(checkout)]).then(([saga, effects]) => {
    logStatus(checkout, saga);
    if (hasMissed(checkout)) {
      missed(checkout);
      return true;
    }
    showSaga(checkout, saga, effects);
    byId('check-out').disabled = !isOver(checkout) && checkout.status !== 'HALTED';
    return isOver(checkout);
  }).catch(() => false).then((over) => {
    if (!over) {
      window.setTimeout(() => poll(checkout), POLL_MILLIS);
    }
  });
}

/**
 * Returns whether another JVM has run a checkout that a second one was to crash in: whichever
 * is first takes a saga that is started.
 */
function hasMissed(checkout) {
  return hasEnded(checkout) && !checkout.settled && checkout.owner === null
      && Date.now() - checkout.endedAt > SILENCE_MILLIS;
}

/** Starts another checkout in place of one that was run by another JVM than the one that was to crash. */
function missed(checkout) {
  if (checkout.left > 0) {
    checkOut(checkout.left - 1);
    logLine('Another JVM was faster than the second one and has run the checkout ' + checkout.id.slice(0, 8)
        + '…, so nothing crashed. This is another checkout.', Date.now());
  } else {
    prove('saga', '', 'Another process was faster than the second one, so nothing crashed. Check out again.');
    byId('check-out').disabled = false;
  }
}

function hasEnded(checkout) {
  return checkout.status === 'COMPLETED' || checkout.status === 'COMPENSATED';
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
  return hasEnded(checkout) && (checkout.settled || Date.now() - checkout.endedAt > LATE_MILLIS);
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
      logLine(parsed(answer.body).detail || UNREACHABLE, Date.now());
    }
  });
}

function addChoices(id, name, choices, usual) {
  Object.keys(choices).forEach((value) => {
    const label = element(byId(id), 'label', '', '');
    const input = element(label, 'input', '', '');
    input.type = 'radio';
    input.name = name;
    input.value = value;
    input.checked = value === usual;
    label.appendChild(document.createTextNode(' '));
    element(label, 'span', '', choices[value].text || choices[value]);
  });
}

function choose(name, value) {
  document.querySelector('input[name=' + name + '][value="' + value + '"]').checked = true;
}

function nameButton() {
  byId('check-out').textContent = chosen('crash') ? 'Check out, and crash' : 'Check out';
}

function wireSaga() {
  addChoices('saga-outcomes', 'outcome', OUTCOMES_OF_SERVICES, 'accept');
  addChoices('saga-crashes', 'crash', CRASHES, USUAL_CRASH);
  drawSteps(null);
  get(OWNERS).then((answer) => {
    if (answer.status !== 200) {
      byId('saga-crashes').disabled = true;
      choose('crash', '');
      nameButton();
      prove('saga', '', 'This shop starts no second process (sample.chaos.enabled), so nothing crashes here.');
    }
  });
  onClick('check-out', () => checkOut(CHECKOUTS - 1));
  onClick('saga-retry', () => send(post('/api/chaos/gateway', { refunds: true }, null, '')).then(() => resolve('retry', null)));
  onClick('saga-skip', () => resolve('skip', byId('saga-note').value));
  document.querySelectorAll('input[name=crash]').forEach((choice) => choice.addEventListener('change', () => {
    nameButton();
    // The refund is called only if the points are refused.
    if (chosen('crash') === 'in-compensation' && ['accept', 'declined'].includes(chosen('outcome'))) {
      choose('outcome', 'refused');
    }
  }));
  // It is ready when the visitor clicks.
  byId('saga').addEventListener('pointerenter', () => send(post(OWNERS + '/prepare', {}, null, '')), { once: true });
}
