'use strict';

const SAMPLE_MILLIS = 2000;
const SAMPLES = 31;
const BAR = 8;
const CHART_HEIGHT = 28;

let samples = [];

/** Adds what the meters say now to the chart, and again after a while. */
function followMeters() {
  readMeters().then((sample) => {
    samples = samples.concat([sample]).slice(-SAMPLES);
    drawChart();
    return '';
  }).catch((trouble) => {
    // A meter that is not there yet stands at zero.
    samples = trouble.isMissing ? [totals([])] : [];
    byId('chart').replaceChildren();
    return trouble.message;
  }).then((trouble) => {
    showText('no-meters', trouble);
    byId('no-meters').hidden = trouble === '';
    window.setTimeout(followMeters, SAMPLE_MILLIS);
  });
}

function drawChart() {
  const chart = byId('chart');
  chart.replaceChildren();
  const highest = Math.max.apply(null, Object.keys(OUTCOMES).flatMap(increases).concat([1]));
  Object.keys(OUTCOMES).forEach((kind) => {
    const row = element(chart, 'li', 'kind-' + kind, '');
    badge(row, kind);
    element(row, 'span', 'chart-name', KINDS[kind].name);
    drawBars(row, increases(kind), highest);
    element(row, 'b', 'chart-total', increases(kind).reduce((sum, increase) => sum + increase, 0));
  });
}

function increases(kind) {
  return samples.slice(1).map((sample, i) => Math.max(0, sample[kind] - samples[i][kind]));
}

function drawBars(row, values, highest) {
  const width = (SAMPLES - 1) * BAR;
  const picture = svgElement(row, 'svg', {
    class: 'bars', viewBox: '0 0 ' + width + ' ' + CHART_HEIGHT, preserveAspectRatio: 'none', 'aria-hidden': 'true'
  });
  svgElement(picture, 'line', { class: 'axis', x1: 0, y1: CHART_HEIGHT - 0.5, x2: width, y2: CHART_HEIGHT - 0.5 });
  values.forEach((value, i) => {
    if (value > 0) {
      const height = Math.max(3, value / highest * (CHART_HEIGHT - 2));
      svgElement(picture, 'rect', {
        class: 'bar', x: width - (values.length - i) * BAR, y: CHART_HEIGHT - height, width: BAR - 2, height: height
      });
    }
  });
}
