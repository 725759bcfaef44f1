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

const STATUSES = {
  STARTED: () => 'Started: it will be finished or undone.',
  EXECUTING: () => 'Running, one step after the other.',
  COMPENSATING: () => 'Being undone, in reverse order.',
  COMPLETED: () => 'Complete: each step took effect once.',
  COMPENSATED: () => 'Undone: no step has left an effect.',
  HALTED: () => 'Halted: an operator must decide.'
};

const OUTCOMES_OF_SERVICES = {
  accept: { text: 'All accept', method: 'card', amount: 10, refunds: true },
  declined: { text: 'Card declined', method: 'declined', amount: 10, refunds: true },
  refused: { text: 'Points refused', method: 'card', amount: 500, refunds: true },
  halted: { text: 'Points refused, refund fails', method: 'card', amount: 500, refunds: false }
};

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

/** Describes what the second JVM and this one have done with a checkout. */
function ownerText(checkout, status) {
  const owner = checkout.owner;
  if (!owner || status === 'HALTED' || owner.what === 'ENDED') {
    return '';
  }
  const open = status !== 'COMPLETED' && status !== 'COMPENSATED';
  const ending = open ? 'This JVM takes over within 4 s.'
      : 'This JVM has ' + (status === 'COMPLETED' ? 'finished' : 'undone') + ' it.';
  if (owner.what === 'HALTS') {
    return 'JVM ' + owner.pid + (owner.detail === 'after-complete' ? ' crashed after the end.' : ' has crashed. ' + ending);
  }
  if (owner.what === 'FENCED') {
    return ending + ' JVM ' + owner.pid + ' continued too late: its call got the stored response, its write was refused.';
  }
  return 'JVM ' + owner.pid + ' is paused. ' + ending;
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
  return 'In the services: ' + parts.join(', ') + '.';
}
