'use strict';

const MARK_WIDTH = 30;
const SHORTEST_SPAN = 20;

/**
 * Places the requests of a key on a line. The order in time is exact and the distances are
 * compressed, so that a few milliseconds and a pause of a minute fit into one picture.
 * Requests that were on their way together are in different rows.
 */
function layOut(requests) {
  const spans = requests.map((entry) => ({
    entry: entry,
    start: entry.sentAt,
    end: entry.answeredAt === null ? Infinity : Math.max(entry.answeredAt, entry.sentAt + 1)
  }));
  const at = positions(spans);
  const rowEnds = [];
  const marks = spans.map((span) => {
    let row = rowEnds.findIndex((end) => end <= span.start);
    if (row < 0) {
      row = rowEnds.length;
    }
    rowEnds[row] = span.end;
    return { entry: span.entry, from: at.get(span.start), to: at.get(span.end), row: row };
  });
  const right = marks.reduce((max, mark) => Math.max(max, mark.to), 0);
  return { marks: marks, width: right + MARK_WIDTH / 2, rows: rowEnds.length };
}

/** Returns the newest requests that fit into a width; at least one. */
function fitting(requests, width) {
  let first = 0;
  while (first < requests.length - 1 && layOut(requests.slice(first)).width > width) {
    first += 1;
  }
  return requests.slice(first);
}

function positions(spans) {
  const starts = new Set(spans.map((span) => span.start));
  const ends = new Set(spans.map((span) => span.end));
  const times = Array.from(new Set(spans.flatMap((span) => [span.start, span.end])))
      .sort((a, b) => a < b ? -1 : 1);
  const at = new Map();
  let x = 6;
  times.forEach((time, i) => {
    if (i > 0) {
      // A start may follow an end in the same row, where a mark needs its room.
      const least = starts.has(time) && ends.has(times[i - 1]) ? MARK_WIDTH : 0;
      x += Math.max(compressed(time - times[i - 1]), least, ends.has(time) ? SHORTEST_SPAN : 0);
    }
    at.set(time, x);
  });
  return at;
}

function compressed(millis) {
  return Math.min(80, 3 + 2 * Math.sqrt(millis));
}
