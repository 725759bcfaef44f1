/**
 * Places, shows and moves orders: one order per key, and of concurrent moves one
 * succeeds.
 */
@NullMarked
package dev.idempotent.sample.order;

import org.jspecify.annotations.NullMarked;
