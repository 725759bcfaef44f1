'use strict';

let lastOrderId = null;

/** Lets the visitor pay the order of an answer, if the answer has one. */
function offerPayment(answer) {
  if (answer.status === 201) {
    lastOrderId = parsed(answer.body).orderId;
    byId('last-order').textContent = 'Order ' + lastOrderId;
    byId('pay').disabled = false;
    byId('pay-twice').disabled = false;
  }
}

function pay(title, times) {
  const url = '/api/orders/' + lastOrderId + '/payment';
  exchange(title, Array(times).fill(post(url, { method: byId('method').value }, newKey(), '')), send);
}

function giveFeedback(title, times) {
  const command = { userId: VISITOR, text: byId('text').value };
  exchange(title, Array(times).fill(post('/api/feedback', command, null, '')), send);
}

function wirePaymentAndFeedback() {
  onSubmit('payment', () => pay('Pay', 1));
  onClick('pay-twice', () => pay('Double-click on Pay', 2));
  onSubmit('feedback', () => giveFeedback('Feedback', 1));
  onClick('give-twice', () => giveFeedback('Double-click on Send', 2));
}
