/**
 * What the transactional outbox costs, beside a bare transaction and another outbox.
 */
@NullMarked
package dev.idempotent.benchmark.outbox;

import org.jspecify.annotations.NullMarked;
