'use strict';

const STEPS = [
  { name: 'order', title: 'Order', place: 'PostgreSQL, in one transaction with its journal' },
  { name: 'payment', title: 'Payment', place: 'the gateway, over HTTP, with a derived key' },
  { name: 'points', title: 'Points', place: 'the points service, over HTTP, can be cancelled' }
];

/** The states of a step, each with the kind whose color and glyph it has. */
const STATES = {
  NONE: { text: 'Not begun', kind: 'waiting-step' },
  ACTING: { text: 'Acting', kind: 'acting' },
  DONE: { text: 'Done', kind: 'ran' },
  REFUSED: { text: 'Refused', kind: 'refused' },
  COMPENSATING: { text: 'Being undone', kind: 'compensating' },
  COMPENSATED: { text: 'Undone', kind: 'replayed' },
  SKIPPED: { text: 'Undone by hand', kind: 'replayed' }
};

const RUNNING = {
  STARTED: 'Started: it will be finished or undone.',
  EXECUTING: 'Running, one step after the other.',
  COMPENSATING: 'Being undone, in reverse order.'
};

const OUTCOMES_OF_SERVICES = {
  accept: { text: 'All accept', method: 'card', amount: 10, refunds: true },
  declined: { text: 'Card declined', method: 'declined', amount: 10, refunds: true },
  refused: { text: 'Points refused', method: 'card', amount: 500, refunds: true },
  halted: { text: 'Points refused, refund fails', method: 'card', amount: 500, refunds: false }
};

/** The crash of the story. */
const USUAL_CRASH = 'after-call';

const CRASHES = {
  '': 'None',
  'after-start': 'After the start',
  'before-commit': 'Before the order’s commit',
  'after-commit': 'After the order’s commit',
  'before-call': 'Before the charge',
  'after-call': 'After the charge',
  'after-credit': 'After the credit',
  'before-complete': 'Before the end',
  'after-complete': 'After the end',
  'in-compensation': 'During the refund',
  pause: 'Pause past its lease'
};

const OWNER_EVENTS = {
  READY: () => 'is ready',
  HALTS: (event) => 'crashes: ' + CRASHES[event.detail].toLowerCase(),
  PAUSES: () => 'is paused for longer than its lease',
  CONTINUES: () => 'continues after the pause',
  FENCED: () => 'is too late: its write is refused',
  ENDED: (event) => 'reports ' + event.detail
};

/** Leaves out the packages of the types in a reason. */
function shortened(reason) {
  return (reason || '').replace(/\b([a-z]\w*\.)+(?=[A-Z])/g, '').replace('$', '.');
}

/** Says what has become of a checkout, with its effects in all services. */
function checkoutSentence(checkout, saga, effects) {
  const owner = checkout.owner;
  if (saga.status === 'HALTED') {
    return 'Halted: an operator must decide. ' + shortened(saga.reason) + '.';
  }
  if (RUNNING[saga.status]) {
    return RUNNING[saga.status] + (owner && owner.what !== 'ENDED'
      ? ' Process ' + owner.pid + (owner.what === 'HALTS' ? ' has crashed' : ' is paused') + ': another one takes over within 4 s.' : '');
  }
  return (isByHand(saga) ? 'The checkout is undone, partly by hand: ' : endOf(owner, saga.status === 'COMPLETED' ? 'finished' : 'undid'))
      + effectsText(effects) + '.';
}

/** Describes how an ended checkout has come to its end. */
function endOf(owner, did) {
  if (!owner || owner.what === 'ENDED') {
    return 'The checkout is ' + (did === 'finished' ? 'complete: ' : 'undone: ');
  }
  const process = 'Process ' + owner.pid;
  const takenOver = ', another one ' + did + ' the checkout';
  if (owner.what === 'HALTS') {
    return process + ' crashed ' + CRASHES[owner.detail].toLowerCase() + (owner.detail === 'after-complete' ? ': ' : takenOver + ': ');
  }
  return process + (owner.what === 'FENCED' ? ' was paused' + takenOver + ', and the late write was refused: '
    : ' is paused' + takenOver + ': ');
}

function isByHand(saga) {
  return saga.steps.some((step) => step.state === 'SKIPPED');
}

/** Returns whether a checkout that has ended has taken effect once, or not at all. */
function isWhole(checkout, saga, effects) {
  return saga.status === 'COMPLETED'
    ? effects.orders === 1 && effects.charges === 1 && effects.refunds === 0 && effects.points === checkout.command.amount
    : effects.orders === 0 && effects.charges === effects.refunds && effects.points === 0;
}

function effectsText(effects) {
  const parts = [counted(effects.orders, 'order')];
  if (effects.rejected > 0) {
    parts.push(counted(effects.rejected, 'rejected order'));
  }
  parts.push(counted(effects.charges, 'charge'));
  if (effects.refunds > 0) {
    parts.push(counted(effects.refunds, 'refund'));
  }
  parts.push(counted(effects.points, 'point'));
  return parts.join(', ');
}
