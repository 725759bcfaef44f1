'use strict';

const CHART = { width: 600, height: 120, shortest: 15, longest: 60 };
const FAULT_ROWS = 3;

/** What the visitor did to Redis during the rush, each with the second of the rush. */
let faults = [];

/**
 * Draws the answers of each second, the refused ones on top of the accepted ones. A second
 * without answers, such as while Redis is cut off, has no bar.
 */
function drawSeries(series) {
  const parent = byId('rush-chart');
  const last = faults.reduce((latest, fault) => Math.max(latest, fault.second), lastSecond(series));
  const first = Math.max(0, last + 1 - CHART.longest);
  const seconds = Math.max(CHART.shortest, last + 1 - first);
  const shown = series.filter((each) => each.second >= first);
  const highest = busiest(shown);
  parent.replaceChildren();
  const picture = svgElement(parent, 'svg', {
    viewBox: '0 0 ' + CHART.width + ' ' + CHART.height, preserveAspectRatio: 'none', role: 'img',
    'aria-label': 'Responses per second, at most ' + highest
  });
  shown.forEach((each) => drawSecond(picture, each, (each.second - first) / seconds, 1 / seconds, highest));
  svgElement(picture, 'line', { class: 'axis', x1: 0, y1: CHART.height - 0.5, x2: CHART.width, y2: CHART.height - 0.5 });
  parent.classList.toggle('with-faults', faults.length > 0);
  faults.filter((fault) => fault.second >= first).forEach((fault, i) => {
    const mark = element(parent, 'span', 'fault', '');
    element(mark, 'span', 'fault-name', fault.name);
    const percent = (fault.second - first) / seconds * 100;
    // Near the right edge the name is on the left of the line.
    mark.classList.toggle('late', percent > 70);
    mark.style.left = percent > 70 ? 'auto' : percent + '%';
    mark.style.right = percent > 70 ? 100 - percent + '%' : 'auto';
    mark.style.paddingTop = i % FAULT_ROWS + 'rem';
  });
}

function drawSecond(picture, answers, at, width, highest) {
  const accepted = barHeight(answers.accepted, highest);
  const refused = Math.min(barHeight(answers.refused, highest), CHART.height - accepted);
  bar(picture, 'accepted', at, CHART.height - accepted, width, accepted);
  bar(picture, 'refused', at, CHART.height - accepted - refused, width, refused);
}

/** A few accepted answers among thousands of refused ones stay visible. */
function barHeight(count, highest) {
  return count === 0 ? 0 : Math.max(3, count / highest * (CHART.height - 2));
}

function bar(picture, className, at, y, width, height) {
  if (height > 0) {
    svgElement(picture, 'rect', { class: className, x: at * CHART.width, y: y, width: width * CHART.width * 0.8, height: height });
  }
}

function busiest(series) {
  return series.reduce((max, each) => Math.max(max, each.accepted + each.refused), 1);
}

function lastSecond(series) {
  return series.length === 0 ? 0 : series[series.length - 1].second;
}
