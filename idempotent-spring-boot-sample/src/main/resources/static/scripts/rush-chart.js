'use strict';

const CHART = { width: 600, height: 120, shortest: 15, longest: 60 };

/** Draws the answers of each second, the refused ones on top of the accepted ones. */
function drawSeries(series) {
  const parent = byId('rush-chart');
  parent.replaceChildren();
  const shown = series.slice(-CHART.longest);
  const highest = shown.reduce((max, each) => Math.max(max, each.accepted + each.refused), 1);
  const step = CHART.width / Math.max(CHART.shortest, shown.length);
  const picture = svgElement(parent, 'svg', {
    viewBox: '0 0 ' + CHART.width + ' ' + CHART.height, preserveAspectRatio: 'none', role: 'img',
    'aria-label': 'Answers per second, at most ' + highest
  });
  shown.forEach((each, i) => {
    const accepted = barHeight(each.accepted, highest);
    const refused = Math.min(barHeight(each.refused, highest), CHART.height - accepted);
    bar(picture, 'accepted', i * step, CHART.height - accepted, step, accepted);
    bar(picture, 'refused', i * step, CHART.height - accepted - refused, step, refused);
  });
  svgElement(picture, 'line', { class: 'axis', x1: 0, y1: CHART.height - 0.5, x2: CHART.width, y2: CHART.height - 0.5 });
  element(parent, 'span', 'highest', grouped(highest) + ' in the busiest second');
}

/** A few accepted answers among thousands of refused ones stay visible. */
function barHeight(count, highest) {
  return count === 0 ? 0 : Math.max(3, count / highest * (CHART.height - 2));
}

function bar(picture, className, x, y, step, height) {
  if (height > 0) {
    svgElement(picture, 'rect', { class: className, x: x, y: y, width: step * 0.8, height: height });
  }
}
