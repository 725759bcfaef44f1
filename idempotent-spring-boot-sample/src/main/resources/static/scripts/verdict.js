'use strict';

const LINE_STATES = {
  HOLDS: { mark: '✓', tone: 'good' },
  BROKEN: { mark: '✗', tone: 'bad' },
  WAITING: { mark: '…', tone: 'waiting' }
};

function drawVerdict(verdict) {
  const lines = byId('verdict-lines');
  const drawn = JSON.stringify(verdict);
  if (lines.dataset.drawn === drawn) {
    return;
  }
  lines.dataset.drawn = drawn;
  byId('no-verdict').hidden = true;
  lines.replaceChildren();
  verdict.lines.forEach((line) => {
    const state = LINE_STATES[line.state];
    const row = element(lines, 'li', state.tone, '');
    element(row, 'b', 'line-state', state.mark + ' ' + line.state);
    element(row, 'span', '', line.number + '. ' + line.rule);
    element(row, 'span', 'quiet', line.detail || '');
  });
  byId('verdict').className = 'verdict ' + toneOf(verdict);
  showText('verdict', verdictText(verdict));
}

function hideVerdict(text) {
  byId('verdict-lines').dataset.drawn = '';
  byId('verdict-lines').replaceChildren();
  byId('no-verdict').hidden = false;
  byId('verdict').className = 'verdict';
  showText('verdict', text);
}

function brokenLines(verdict) {
  return verdict.lines.filter((line) => line.state === 'BROKEN').map((line) => line.number);
}

function toneOf(verdict) {
  if (brokenLines(verdict).length > 0) {
    return 'bad';
  }
  return verdict.settled && verdict.holds ? 'good' : '';
}

function verdictText(verdict) {
  const broken = brokenLines(verdict);
  if (broken.length > 0) {
    return '✗ Broken: line ' + broken.join(', ') + '.';
  }
  if (verdict.settled && verdict.holds) {
    return '✓ All lines hold: no unit was sold twice, none was lost.';
  }
  return 'No line is broken. Some cannot be decided yet.';
}
