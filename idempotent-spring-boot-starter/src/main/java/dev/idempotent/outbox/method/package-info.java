/**
 * Gives {@code @TransactionalOutbox} its effect on the methods of beans.
 */
@NullMarked
package dev.idempotent.outbox.method;

import org.jspecify.annotations.NullMarked;
