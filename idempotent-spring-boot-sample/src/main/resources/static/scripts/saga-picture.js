'use strict';

const KEPT_LINES = 40;

/** Draws the steps of a checkout, those that have not begun included. */
function drawSteps(saga) {
  const list = byId('saga-steps');
  const drawn = STEPS.map((step) => stepOf(saga, step.name));
  const picture = JSON.stringify(drawn);
  if (list.dataset.picture === picture) {
    return;
  }
  list.dataset.picture = picture;
  list.replaceChildren();
  STEPS.forEach((step, i) => {
    const state = STATES[drawn[i].state];
    const item = element(list, 'li', 'saga-step kind-' + state.kind, '');
    badge(item, state.kind);
    element(item, 'h3', '', step.title);
    element(item, 'p', 'saga-state', state.text);
    element(item, 'p', 'quiet', drawn[i].note || shortened(drawn[i].reason) || step.place);
  });
}

function stepOf(saga, name) {
  const begun = saga ? saga.steps.find((step) => step.name === name) : null;
  return begun || { state: 'NONE', reason: null, note: null };
}

function showSaga(checkout, saga, effects) {
  drawSteps(saga);
  const ended = saga.status === 'COMPLETED' || saga.status === 'COMPENSATED';
  // What was undone by hand is not in the services.
  const tone = ended && isByHand(saga) ? '' : ended ? (isWhole(checkout, saga, effects) ? 'good' : 'bad')
    : saga.status === 'HALTED' ? 'bad' : '';
  prove('saga', tone, checkoutSentence(checkout, saga, effects));
  byId('saga-halted').hidden = saga.status !== 'HALTED';
  byId('saga-console').href = 'actuator/console#sagas/' + saga.id;
}

/** Adds a line to the log of the checkout. */
function logLine(text, at) {
  const list = byId('saga-log');
  const line = element(list, 'li', '', '');
  element(line, 'span', 'quiet', new Date(at).toLocaleTimeString());
  element(line, 'span', '', text);
  if (list.children.length > KEPT_LINES) {
    list.removeChild(list.firstChild);
  }
  list.scrollTop = list.scrollHeight;
}
