package dev.idempotent.benchmark.outbox;

import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;

/**
 * What all contenders share.
 *
 * @param postgres keeps a database for each
 * @param redis keeps a stream for each
 * @param poolSize how many connections each may have to its database
 */
record Servers(RealPostgres postgres, RealRedis redis, int poolSize) {
}
