'use strict';

const PROBLEM_TYPE = 'urn:problem-type:idempotency:';

function newKey() {
  // Browsers offer randomUUID on https and on the loopback address only.
  if (window.crypto.randomUUID) {
    return window.crypto.randomUUID();
  }
  const bytes = window.crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes).map((byte) => (byte + 0x100).toString(16).slice(1)).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function post(url, command, idempotencyKey, chaos) {
  const headers = { 'Content-Type': 'application/json' };
  if (idempotencyKey) {
    headers['Idempotency-Key'] = idempotencyKey;
  }
  if (chaos) {
    headers['X-Chaos'] = chaos;
  }
  return {
    method: 'POST',
    url: url,
    headers: headers,
    body: JSON.stringify(command),
    patienceMillis: 0,
    label: idempotencyKey ? 'Key ' + idempotencyKey : 'No key'
  };
}

function get(url) {
  return send({ method: 'GET', url: url, headers: {}, body: null, patienceMillis: 0 });
}

function getJson(url) {
  return get(url).then((answer) => JSON.parse(answer.body));
}

/** Sends a request and resolves with its answer; without an answer, its status is 0. */
function send(request) {
  return new Promise((resolve) => {
    const xhr = new XMLHttpRequest();
    const start = Date.now();
    xhr.open(request.method, request.url);
    xhr.timeout = request.patienceMillis;
    Object.keys(request.headers).forEach((name) => xhr.setRequestHeader(name, request.headers[name]));
    xhr.onloadend = () => resolve({
      status: xhr.status,
      replayed: xhr.getResponseHeader('Idempotent-Replayed') === 'true',
      millis: Date.now() - start,
      body: xhr.responseText
    });
    xhr.send(request.body);
  });
}

/** Returns what an answer of the library itself is about, such as "in-progress", or an empty string. */
function problemOf(answer) {
  const type = String(parsed(answer.body).type);
  return type.startsWith(PROBLEM_TYPE) ? type.slice(PROBLEM_TYPE.length) : '';
}

function parsed(body) {
  try {
    return JSON.parse(body) || {};
  } catch (notJson) {
    return {};
  }
}
