/**
 * Places and shows orders: one order per key.
 */
@NullMarked
package dev.idempotent.sample.order;

import org.jspecify.annotations.NullMarked;
