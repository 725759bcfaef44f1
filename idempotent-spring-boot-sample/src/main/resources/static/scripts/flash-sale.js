'use strict';

const REFRESH_MILLIS = 500;

let refreshes = 0;
let timer = null;

/** Shows the rush, its sale and the verdict, now and again after a while. */
function refresh() {
  window.clearTimeout(timer);
  refreshes += 1;
  const turn = refreshes;
  let rush = null;
  Promise.all([readRush(), refreshRedis()]).then((answers) => {
    rush = answers[0];
    if (rush && turn === refreshes) {
      showSale(rush.item);
      drawRush(rush);
    }
    return item === null ? [] : Promise.all([read(saleUrl('')), rush && rush.verdict ? rush.verdict : read(saleUrl('/verdict'))]);
  }).then((answers) => {
    // A later refresh may have been faster.
    if (answers.length > 0 && turn === refreshes) {
      drawStock(answers[0], rush);
      drawVerdict(answers[1]);
    }
    return '';
  }).catch((trouble) => trouble.message).then((trouble) => {
    if (turn === refreshes) {
      showText('connection', trouble);
      timer = window.setTimeout(refresh, REFRESH_MILLIS);
    }
  });
}

function readRush() {
  return rushId === null ? Promise.resolve(null) : read(RUSHES + '/' + encodeURIComponent(rushId));
}

/** Resolves with the JSON of a successful answer. Fails with a sentence that says why there is none. */
function read(url) {
  return get(url).then((answer) => {
    if (answer.status === 0) {
      throw new Error('The shop does not respond. Trying again.');
    }
    if (answer.status !== 200) {
      throw new Error(url + ' responds with ' + answer.status + '. Trying again.');
    }
    return parsed(answer.body);
  });
}

rushId = decodeURIComponent(window.location.hash.slice(1)) || null;
wireBuyer();
wireRedis();
Object.keys(FAULTS).forEach((action) => onClick('redis-' + action, () => noteFault(action)));
onSubmit('rush', startRush);
refresh();
