'use strict';

/** What a request can come to. */
const KINDS = {
  ran: { name: 'Ran', meaning: 'the handler ran' },
  replayed: { name: 'Replayed', meaning: 'got the stored response' },
  waited: { name: 'Waited', meaning: 'waited for the stored response' },
  'in-progress': { name: 'In progress', meaning: 'came during the run, retry later' },
  mismatched: { name: 'Mismatched', meaning: 'asks for something else' },
  refused: { name: 'Refused', meaning: 'nothing ran' },
  failed: { name: 'Failed', meaning: 'the handler failed' },
  lost: { name: 'Lost', meaning: 'no answer arrived' }
};

/** The glyphs of the kinds that only steps of a saga have. */
const GLYPHS = { acting: 'in-progress', compensating: 'replayed' };

/** Returns the kind of an answer. A stored one may have been waited for. */
function kindOf(answer, waited) {
  if (answer.status === 0) {
    return 'lost';
  }
  if (answer.replayed) {
    return waited ? 'waited' : 'replayed';
  }
  if (answer.status < 300) {
    return 'ran';
  }
  if (answer.status === 409 && problemOf(answer) === 'in-progress') {
    return 'in-progress';
  }
  if (answer.status === 422) {
    return 'mismatched';
  }
  return answer.status < 500 || answer.status === 503 ? 'refused' : 'failed';
}

/** Draws the glyph of a kind in a disc of its color. */
function badge(parent, kind) {
  const picture = svgElement(parent, 'svg', { class: 'badge kind-' + kind, viewBox: '-12 -12 24 24', 'aria-hidden': 'true' });
  disc(picture, kind, 0, 0);
  return picture;
}

function disc(parent, kind, x, y) {
  svgElement(parent, 'circle', { class: 'disc', cx: x, cy: y, r: 11 });
  const glyph = GLYPHS[kind] || (KINDS[kind] ? kind : '');
  if (glyph) {
    svgElement(parent, 'use', { class: 'glyph', href: '#glyph-' + glyph, x: x - 9, y: y - 9, width: 18, height: 18 });
  }
}
