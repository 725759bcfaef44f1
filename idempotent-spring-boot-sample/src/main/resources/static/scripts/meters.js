'use strict';

const PROMETHEUS = '/actuator/prometheus';
const REQUESTS = /^idempotency_requests_seconds_count\{([^}]*)\} (\S+)$/;

/**
 * Resolves with the number of requests by kind. Fails with a message that says why there
 * is none.
 */
function readMeters() {
  return get(PROMETHEUS).then((answer) => {
    if (answer.status !== 200) {
      throw new Error(PROMETHEUS + ' responds with ' + (answer.status || 'nothing') + '. Is the endpoint exposed?');
    }
    const lines = answer.body.split('\n').map((line) => REQUESTS.exec(line)).filter((line) => line !== null);
    if (lines.length === 0) {
      throw Object.assign(new Error('No idempotency.requests yet. The meter appears with the first request.'),
          { isMissing: true });
    }
    return totals(lines.filter((line) => line[1].includes('kind="http"')));
  });
}

function totals(lines) {
  const result = {};
  Object.keys(OUTCOMES).forEach((kind) => {
    result[kind] = lines.filter((line) => OUTCOMES[kind].some((outcome) => line[1].includes('outcome="' + outcome + '"')))
        .reduce((sum, line) => sum + Number(line[2]), 0);
  });
  return result;
}
