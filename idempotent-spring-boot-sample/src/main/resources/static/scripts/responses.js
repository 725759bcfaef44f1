'use strict';

/**
 * Shows the responses to requests. Those to one request, with the same status and the same
 * bytes, share an entry, and so do problems that differ in their instance only.
 */
function showResponses(step, requests) {
  const list = byId(step + '-responses');
  const groups = new Map();
  requests.filter((entry) => entry.answer !== null).forEach((entry) => {
    const same = [entry.label, entry.answer.status, problemOf(entry.answer) || entry.answer.body].join('\n');
    groups.set(same, (groups.get(same) || []).concat([entry]));
  });
  list.replaceChildren();
  groups.forEach((entries) => drawResponses(list, entries));
}

function drawResponses(list, entries) {
  const item = element(list, 'li', 'response', '');
  element(item, 'p', 'request', entries[0].label);
  const summary = element(item, 'p', 'summary', '');
  entries.forEach((entry) => {
    const outcome = element(summary, 'span', 'outcome kind-' + entry.kind, '');
    badge(outcome, entry.kind);
    element(outcome, 'b', '', statusShown(entry.answer) + KINDS[entry.kind].name);
    element(outcome, 'span', 'millis', entry.answer.millis + ' ms');
    summary.appendChild(document.createTextNode(' '));
  });
  if (entries.length > 1) {
    element(item, 'p', 'quiet', entries.length + (problemOf(entries[0].answer)
      ? ' responses that differ in their instance only:' : ' responses with the same bytes:'));
  }
  if (entries[0].answer.body) {
    element(item, 'pre', 'body', pretty(entries[0].answer.body));
  }
}

/** Returns the status of an answer and a space; nothing for the answer of a tool, which has none. */
function statusShown(answer) {
  return answer.status === undefined ? '' : (answer.status || '–') + ' ';
}

function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch (notJson) {
    return body;
  }
}
