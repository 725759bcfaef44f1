/**
 * The transactional outbox: events that an application appends in its own database
 * transaction are delivered at least once if it commits. Does not depend on a store, a
 * broker or a web framework.
 */
@NullMarked
package dev.idempotent.outbox;

import org.jspecify.annotations.NullMarked;
