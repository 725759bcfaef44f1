/**
 * Places orders and shows them: one key, one order.
 */
@NullMarked
package dev.idempotent.sample.order;

import org.jspecify.annotations.NullMarked;
