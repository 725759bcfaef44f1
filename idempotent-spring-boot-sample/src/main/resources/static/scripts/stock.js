'use strict';

/** The item whose sale the page shows; null before the first one. */
let item = null;

function showSale(name) {
  item = name;
  offerSteps();
}

function saleUrl(path) {
  return '/api/flash-sales/' + encodeURIComponent(item) + path;
}

function drawStock(sale, rush) {
  showText('sale', grouped(sale.stock) + ' units of ' + sale.item + ', at most ' + sale.perUser + ' per user.');
  ['confirmed', 'held', 'free'].forEach((part) => {
    byId('stock-bar').querySelector('.' + part).style.flexGrow = sale[part];
    showText(part, grouped(sale[part]));
  });
  byId('stock-bar').setAttribute('aria-label',
      sale.confirmed + ' confirmed, ' + sale.held + ' held, ' + sale.free + ' free');
  showText('gate-units', sale.gate ? grouped(sale.gate.units) : 'none');
  showText('gate', gateText(sale));
  showText('left', rush && rush.state === 'DONE' && sale.free > 0 ? leftText(sale, rush) : '');
}

/** Explains why a rush that is over has not sold all units. */
function leftText(sale, rush) {
  const left = counted(sale.free, 'unit') + (sale.free === 1 ? ' is' : ' are') + ' left: ';
  return left + (rush.answers.soldOut > 0
    ? 'given back, or not ordered in time, after the other users had heard “sold out” and gone.'
    : 'given back, not ordered in time, or never asked for. No user heard “sold out”.');
}

function gateText(sale) {
  if (!sale.gate) {
    return 'Redis has no gate now. Once Redis is back, it is built again from PostgreSQL.';
  }
  if (sale.gate.tickets > 0) {
    return 'Requests that passed the gate and have not reported their outcome: ' + sale.gate.tickets + '.';
  }
  return sale.gate.units === sale.free
    ? 'PostgreSQL and the gate agree.'
    : 'The gate differs from PostgreSQL. It is corrected within seconds.';
}
