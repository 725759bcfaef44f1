'use strict';

/** The kinds of calls whose outcome has another name. */
const KINDS_OF_CALLS = { 'other-arguments': 'mismatched' };

const FATES_OF_CALLS = {
  ran: ' ran',
  replayed: ' got the stored result',
  'in-progress': ' came during the run',
  mismatched: ' asked for something else under a used key',
  refused: ' refused for another reason',
  failed: ' failed',
  lost: ' lost its answer'
};

/** Lets the agent buy for two customers, and compares what it was told with the rows of both. */
function sendAgent() {
  const customer = startKey().user;
  const friend = customer + ' friend';
  showResponses('agent', []);
  drawLane(byId('agent-lane'), []);
  return mustSucceed(post('/api/agent', { customer: customer, otherCustomer: friend }, null, '')).then((calls) => {
    const entries = calls.map(entryOfCall);
    drawLane(byId('agent-lane'), entries);
    showResponses('agent', entries);
    return Promise.all([customer, friend].map(rowsOf)).then(([own, other]) => judgeAgent(entries, own, other));
  });
}

function entryOfCall(call) {
  const sentAt = new Date(call.sentAt).getTime();
  const kind = KINDS_OF_CALLS[call.outcome] || (KINDS[call.outcome] ? call.outcome : 'refused');
  return {
    kind: kind,
    label: 'Session ' + call.session + ': ' + call.tool + ' ' + JSON.stringify(call.arguments)
        + (call.key ? ', key ' + call.key : ''),
    sentAt: sentAt,
    answeredAt: sentAt + call.millis,
    answer: { replayed: kind === 'replayed', millis: call.millis, body: call.text }
  };
}

function rowsOf(customer) {
  return Promise.all([getJson('/api/orders?userId=' + encodeURIComponent(customer)), getJson(effectsUrl(customer))])
      .then(([orders, effects]) => ({ orders: orders, charges: effects.charges }));
}

function judgeAgent(entries, own, other) {
  const right = own.orders.length === 1 && own.charges === 1 && own.orders[0].status === 'PAID'
      && other.orders.length === 1 && other.charges === 0 && other.orders[0].status === 'CANCELLED'
      && entries.every((entry) => entry.kind !== 'failed' && entry.kind !== 'refused');
  const fates = Object.keys(FATES_OF_CALLS).map((kind) => [kind, entries.filter((entry) => entry.kind === kind).length])
      .filter((fate) => fate[1] > 0).map(([kind, number]) => number + FATES_OF_CALLS[kind]);
  prove('agent', right ? 'good' : 'bad', counted(entries.length, 'call') + ': ' + fates.join(', ')
      + '. The customer has ' + counted(own.orders.length, 'order') + ' and ' + counted(own.charges, 'charge')
      + ', the other one ' + counted(other.orders.length, 'order') + ', which is ' + statusesOfOrders(other) + '.');
}

function statusesOfOrders(rows) {
  return Array.from(new Set(rows.orders.map((order) => order.status))).join(' and ') || 'missing';
}

function wireAgent() {
  onClick('send-agent', () => during('send-agent', 'agent', sendAgent));
}
