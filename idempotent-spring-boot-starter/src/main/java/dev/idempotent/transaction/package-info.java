/**
 * The one place that knows whether a transaction of the application has committed. The
 * features participate in {@link dev.idempotent.transaction.ObservedTransaction}s and are
 * told of their {@link dev.idempotent.transaction.End}.
 */
@NullMarked
package dev.idempotent.transaction;

import org.jspecify.annotations.NullMarked;
