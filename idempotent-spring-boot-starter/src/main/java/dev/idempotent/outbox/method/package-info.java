/**
 * The advice of {@code @TransactionalOutbox} methods.
 */
@NullMarked
package dev.idempotent.outbox.method;

import org.jspecify.annotations.NullMarked;
