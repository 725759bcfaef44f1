'use strict';

const SHOWN_KEYS = 3;
const ROW_HEIGHT = 42;

/** Draws the line of each key that has requests, the newest first. */
function drawTimeline() {
  const used = keys.filter((key) => key.requests.length > 0);
  byId('no-requests').hidden = used.length > 0;
  const list = byId('lanes');
  list.replaceChildren();
  used.slice(-SHOWN_KEYS).reverse().forEach((key) => {
    const lane = element(list, 'li', 'lane', '');
    const name = element(lane, 'p', 'lane-name', '');
    element(name, 'b', '', 'Order ' + (used.indexOf(key) + 1));
    element(name, 'span', 'quiet', key.handler);
    element(name, 'code', 'quiet', key.value.slice(0, 8) + '…');
    drawLane(element(lane, 'div', 'lane-picture', ''), key);
    const result = element(lane, 'p', 'lane-result', '');
    element(result, 'span', 'quiet', counted(key.requests.length, 'request') + ' → ');
    element(result, 'b', isDouble(key) ? 'bad' : '', (isDouble(key) ? '✗ ' : '') + counted(key.orders.length, 'order'));
  });
}

function drawLane(parent, key) {
  parent.replaceChildren();
  const shown = fitting(key.requests, parent.clientWidth);
  if (shown.length < key.requests.length) {
    element(parent, 'p', 'quiet', counted(key.requests.length - shown.length, 'earlier request') + ' not drawn');
  }
  const plan = layOut(shown);
  const height = plan.rows * ROW_HEIGHT;
  const picture = svgElement(parent, 'svg', {
    class: 'lane-drawing', width: plan.width, height: height, viewBox: '0 0 ' + plan.width + ' ' + height,
    role: 'img', 'aria-label': 'In the order of time: ' + shown.map(described).join(', ')
  });
  svgElement(picture, 'line', { class: 'axis', x1: 0, y1: 14, x2: plan.width, y2: 14 });
  plan.marks.forEach((mark) => drawMark(picture, mark));
}

function drawMark(picture, mark) {
  const y = 14 + mark.row * ROW_HEIGHT;
  const group = svgElement(picture, 'g', { class: 'mark kind-' + mark.entry.kind });
  svgElement(group, 'title', {}).textContent = described(mark.entry);
  svgElement(group, 'line', { class: 'span', x1: mark.from, y1: y, x2: mark.to, y2: y });
  svgElement(group, 'circle', { class: 'start', cx: mark.from, cy: y, r: 3 });
  disc(group, mark.entry.kind, mark.to, y);
  svgElement(group, 'text', { x: mark.to, y: y + 23 }).textContent = statusOf(mark.entry);
}

function statusOf(entry) {
  return entry.answer && entry.answer.status ? String(entry.answer.status) : '';
}

function described(entry) {
  if (entry.kind === 'waiting') {
    return 'On the way';
  }
  return KINDS[entry.kind].name + ' ' + statusOf(entry) + ' after ' + (entry.answeredAt - entry.sentAt) + ' ms';
}
