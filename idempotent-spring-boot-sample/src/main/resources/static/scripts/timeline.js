'use strict';

const ROW_HEIGHT = 42;

/** Draws the requests of a key on a line, in the order of time. */
function drawLane(parent, requests) {
  parent.replaceChildren();
  if (requests.length === 0) {
    return;
  }
  // An empty line takes no room, so it has no width either.
  const note = element(parent, 'p', 'quiet', '…');
  const shown = fitting(requests, parent.clientWidth);
  if (shown.length < requests.length) {
    note.textContent = counted(requests.length - shown.length, 'earlier request') + ' not drawn';
  } else {
    parent.removeChild(note);
  }
  const plan = layOut(shown);
  const height = plan.rows * ROW_HEIGHT;
  const picture = svgElement(parent, 'svg', {
    class: 'lane-drawing', width: plan.width, height: height, viewBox: '0 0 ' + plan.width + ' ' + height,
    role: 'img', 'aria-label': 'In the order of time: ' + shown.map(described).join(', ')
  });
  svgElement(picture, 'line', { class: 'axis', x1: 0, y1: 14, x2: plan.width, y2: 14 });
  plan.marks.forEach((mark) => drawMark(picture, mark));
  drawLegend(parent, shown);
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

/** Names the kinds of the requests that are drawn. The picture has them as its text. */
function drawLegend(parent, requests) {
  const legend = element(parent, 'ul', 'legend', '');
  legend.setAttribute('aria-hidden', 'true');
  Array.from(new Set(requests.map((entry) => entry.kind))).filter((kind) => KINDS[kind]).forEach((kind) => {
    const item = element(legend, 'li', '', '');
    badge(item, kind);
    element(item, 'span', 'quiet', KINDS[kind].meaning);
  });
}

function statusOf(entry) {
  return entry.answer && entry.answer.status ? String(entry.answer.status) : '';
}

function described(entry) {
  if (entry.kind === 'waiting') {
    return 'On the way';
  }
  return [KINDS[entry.kind].name, statusOf(entry), 'after ' + (entry.answeredAt - entry.sentAt) + ' ms']
      .filter(Boolean).join(' ');
}
