'use strict';

const RUSHES = '/api/rushes';

/** The answers that a rush counts, by the member of its JSON. */
const ANSWERS = {
  reserved: { name: 'Reserved', status: '201', kind: 'ran' },
  ended: { name: 'Reservation ended', status: '410', kind: 'mismatched' },
  soldOut: { name: 'Sold out', status: '409', kind: 'refused' },
  limitReached: { name: 'Limit of the user', status: '409', kind: 'refused' },
  shed: { name: 'Too many requests', status: '429', kind: 'waited' },
  inProgress: { name: 'In progress', status: '409', kind: 'in-progress' },
  unanswered: { name: 'No response', status: '', kind: 'lost' },
  failed: { name: 'Failed', status: '5xx', kind: 'failed' }
};

const STATES = {
  RUNNING: 'The rush is running. Wipe Redis now, or cut it.',
  SETTLING: 'All users have finished. The last lines are checked when holds have expired.',
  DONE: 'The rush is over.'
};

const FAULTS = { wipe: 'wiped', cut: 'cut off', restore: 'restored' };

let rushId = null;
let drawnSeries = [];

function startRush() {
  byId('start').disabled = true;
  showText('rush-state', 'Opening the sale …');
  const command = { users: numberOf('users'), stock: numberOf('stock'), perUser: numberOf('per-user') };
  send(post(RUSHES, command, null, '')).then((answer) => {
    const started = parsed(answer.body);
    if (answer.status === 202) {
      hideVerdict('Nothing to judge yet.');
      faults = [];
      followRush(started.rushId, started.item);
    } else {
      byId('start').disabled = false;
      showText('rush-state', refusalOf(answer));
    }
    refresh();
  });
}

function numberOf(id) {
  return Number(byId(id).value);
}

function refusalOf(answer) {
  if (answer.status === 0) {
    return 'The shop does not respond.';
  }
  const detail = parsed(answer.body).detail;
  return answer.status === 404
    ? 'This shop has no flash sale: ' + RUSHES + ' responds with 404.'
    : 'The shop responds with ' + answer.status + (detail ? ': ' + detail : '.');
}

function followRush(id, itemOfRush) {
  rushId = id;
  window.location.hash = encodeURIComponent(id);
  showSale(itemOfRush);
}

/** Leaves the rush, such as for a sale that is opened by hand. */
function stopFollowing() {
  rushId = null;
  window.location.hash = '';
  byId('start').disabled = false;
  hideVerdict('Nothing to judge yet.');
}

function drawRush(rush) {
  byId('no-rush').hidden = true;
  byId('rush-figures').hidden = false;
  byId('start').disabled = rush.state !== 'DONE';
  showText('rush-state', STATES[rush.state]);
  showText('finished', grouped(rush.finished) + ' of ' + grouped(rush.users) + ' users have finished');
  showText('per-second', grouped(Math.round(rush.perSecond)) + ' per second, ' + grouped(busiest(rush.series)) + ' in the busiest');
  drawnSeries = rush.series;
  drawSeries(drawnSeries);
  drawKinds(rush);
  showText('failures', failuresText(rush));
  drawMillis('accepted', rush.acceptedMillis);
  drawMillis('refused', rush.refusedMillis);
}

/** Marks in the chart what the visitor does to Redis while a rush is shown. */
function noteFault(action) {
  if (rushId !== null) {
    faults.push({ second: lastSecond(drawnSeries) + 1, name: FAULTS[action] });
  }
}

function drawKinds(rush) {
  const list = byId('kinds');
  list.replaceChildren();
  const most = Math.max.apply(null, Object.values(rush.answers).concat([1]));
  Object.keys(ANSWERS).forEach((kind) => {
    drawKind(list, ANSWERS[kind], rush.answers[kind] || 0, most);
  });
  drawKind(list, { name: 'Replayed', status: 'of these', kind: 'replayed' }, rush.replayed, most);
}

/** Explains why requests have failed although no line of the verdict is broken. */
function failuresText(rush) {
  const failed = rush.answers.failed;
  if (failed === 0) {
    return '';
  }
  const others = failed - rush.failures.requested - rush.failures.outages;
  const causes = [
    [rush.failures.requested, 'because the rush asks the shop to fail around some commits'],
    [rush.failures.outages, 'while Redis or PostgreSQL did not respond'],
    [others, 'for another reason, which the log tells']
  ].filter(([number]) => number > 0).map(([number, cause]) => grouped(number) + ' ' + cause);
  return grouped(failed) + ' failed: ' + causes.join(', ') + '. A failure promises nothing, so it breaks no line of the verdict. '
      + fateOfFailures(rush);
}

function fateOfFailures(rush) {
  if (rush.failures.givenUp > 0) {
    return counted(rush.failures.givenUp, 'request') + ' got no other answer within a minute.';
  }
  return rush.finished < rush.users ? 'The users repeat these requests with the same key.'
    : 'Each was repeated with the same key until it got another answer.';
}

function drawKind(list, answer, count, most) {
  const row = element(list, 'li', 'kind-' + answer.kind, '');
  element(row, 'span', '', answer.name);
  element(row, 'span', 'quiet', answer.status);
  const bar = svgElement(row, 'svg', { class: 'bars', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  svgElement(bar, 'rect', { class: 'bar', x: 0, y: 0, width: count === 0 ? 0 : Math.max(1, count / most * 100), height: 8 });
  element(row, 'b', 'number', grouped(count));
}

function drawMillis(name, millis) {
  ['p50', 'p99'].forEach((quantile) => {
    showText(name + '-' + quantile, millis ? grouped(Math.round(millis[quantile])) + ' ms' : '–');
  });
}
