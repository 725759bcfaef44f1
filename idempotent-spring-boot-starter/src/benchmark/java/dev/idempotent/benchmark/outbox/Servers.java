package dev.idempotent.benchmark.outbox;

import java.util.function.Function;

import dev.idempotent.benchmark.Database;
import dev.idempotent.testing.RealRedis;

/**
 * What all contenders share.
 *
 * @param databases creates a database for each, by its name
 * @param redis keeps a stream for each
 * @param poolSize how many connections each may have to its database
 */
record Servers(Function<String, Database> databases, RealRedis redis, int poolSize) {
}
