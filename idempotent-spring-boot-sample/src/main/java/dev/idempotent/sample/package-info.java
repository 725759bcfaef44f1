/**
 * A coupon shop that shows what the starter promises, and lets it fail on request.
 */
@NullMarked
package dev.idempotent.sample;

import org.jspecify.annotations.NullMarked;
