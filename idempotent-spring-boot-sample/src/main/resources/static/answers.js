'use strict';

const KEPT_ANSWERS = 8;

/** Sends all requests at once and shows their answers side by side. */
function exchange(title, requests) {
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
    return send(request).then((answer) => {
      fillCard(card, answer);
      return answer;
    });
  })).then((answers) => {
    byId('announcement').textContent = title + ': '
        + answers.map((answer) => answer.status + ' ' + outcome(answer)).join(', ');
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

function fillCard(card, answer) {
  card.classList.add(outcome(answer).toLowerCase());
  card.querySelector('.status').textContent = answer.status || '–';
  card.querySelector('.millis').textContent = answer.millis + ' ms';
  card.querySelector('.body').textContent = pretty(answer.body);
  card.querySelector('.outcome').textContent = outcome(answer);
}

function outcome(answer) {
  if (answer.replayed) {
    return 'Replayed';
  }
  if (answer.status >= 200 && answer.status < 300) {
    return 'Ran';
  }
  return answer.status >= 400 && answer.status < 500 ? 'Refused' : 'Failed';
}

function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch (notJson) {
    return body;
  }
}
