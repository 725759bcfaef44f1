/**
 * A coupon shop that demonstrates the starter, with failures on request.
 */
@NullMarked
package dev.idempotent.sample;

import org.jspecify.annotations.NullMarked;
