'use strict';

let key = newKey();
let keyIsUsed = false;
let lastPlaced = null;
let lastOrderId = null;

function takeNewKey() {
  key = newKey();
  keyIsUsed = false;
  byId('key').textContent = key;
}

function chosenChaos() {
  return document.querySelector('input[name=chaos]:checked').value;
}

function sendOrder(title, placed, times) {
  const request = post('/api/orders', placed.command, placed.key, chosenChaos());
  exchange(title, Array(times).fill(request)).then((answers) => answers.forEach(rememberOrder));
}

function rememberOrder(answer) {
  if (answer.status === 201) {
    lastOrderId = JSON.parse(answer.body).orderId;
    byId('last-order').textContent = 'Order ' + lastOrderId;
    byId('pay').disabled = false;
    byId('pay-twice').disabled = false;
  }
}

function place(title, times) {
  if (keyIsUsed) {
    takeNewKey();
  }
  keyIsUsed = true;
  const command = {
    userId: byId('user').value,
    item: byId('item').value,
    amount: Number(byId('amount').value)
  };
  lastPlaced = { command: command, key: key };
  byId('resend').disabled = false;
  byId('change').disabled = false;
  sendOrder(title, lastPlaced, times);
}

function change() {
  const command = Object.assign({}, lastPlaced.command, { amount: lastPlaced.command.amount + 1 });
  sendOrder('Changed body, same key', { command: command, key: lastPlaced.key }, 1);
}

function pay(title, times) {
  const request = post('/api/orders/' + lastOrderId + '/payment', { method: byId('method').value }, newKey(),
      chosenChaos());
  exchange(title, Array(times).fill(request));
}

function giveFeedback(title, times) {
  const request = post('/api/feedback', { userId: byId('user').value, text: byId('text').value }, null,
      chosenChaos());
  exchange(title, Array(times).fill(request));
}

onSubmit('order', () => place('Place order', 1));
onClick('place-twice', () => place('Double-click', 2));
onClick('resend', () => sendOrder('Resend, same key', lastPlaced, 1));
onClick('change', change);
onClick('new-key', takeNewKey);
onClick('fail-both', failBoth);
onClick('retry-both', retryBoth);
onSubmit('payment', () => pay('Pay', 1));
onClick('pay-twice', () => pay('Double-click on Pay', 2));
onSubmit('feedback', () => giveFeedback('Feedback', 1));
onClick('give-twice', () => giveFeedback('Double-click on Send', 2));
byId('user').addEventListener('change', refresh);

byId('key').textContent = key;
refresh();
