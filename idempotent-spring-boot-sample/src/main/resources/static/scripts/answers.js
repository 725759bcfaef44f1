'use strict';

const KEPT_ANSWERS = 8;

/** Sends all requests at once, each by the given function, and shows their answers side by side. */
function exchange(title, requests, sendOne) {
  const list = byId('answers');
  const row = document.createElement('li');
  element(row, 'h3', '', title);
  const cards = element(row, 'div', 'side-by-side', '');
  list.insertBefore(row, list.firstChild);
  list.scrollTop = 0;
  if (list.children.length > KEPT_ANSWERS) {
    list.removeChild(list.lastChild);
  }
  byId('no-answers').hidden = true;
  return Promise.all(requests.map((request) => {
    const card = waitingCard(cards, request);
    return sendOne(request).then((answer) => {
      fillCard(card, answer, kindOf(answer, false));
      return answer;
    });
  })).then((answers) => {
    refresh();
    return answers;
  });
}

function waitingCard(parent, request) {
  const card = element(parent, 'article', 'answer', '');
  const summary = element(card, 'p', 'summary', '');
  element(summary, 'span', 'status', '…');
  element(summary, 'span', 'outcome', 'Waiting');
  element(summary, 'span', 'millis', '');
  element(card, 'p', 'request', request.label);
  element(card, 'pre', 'body', '');
  return card;
}

function fillCard(card, answer, kind) {
  card.classList.add('kind-' + kind);
  card.querySelector('.status').textContent = answer.status || '–';
  card.querySelector('.millis').textContent = answer.millis + ' ms';
  card.querySelector('.body').textContent = pretty(answer.body);
  card.querySelector('.outcome').textContent = KINDS[kind].name;
}

function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch (notJson) {
    return body;
  }
}
