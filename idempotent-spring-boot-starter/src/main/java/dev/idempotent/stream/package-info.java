/**
 * Delivers the entries of Redis Streams to listener methods. Independent of the outbox,
 * which may have added the entries, and of idempotency, which may deduplicate them.
 */
@NullMarked
package dev.idempotent.stream;

import org.jspecify.annotations.NullMarked;
