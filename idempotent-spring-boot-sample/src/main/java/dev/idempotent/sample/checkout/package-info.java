/**
 * A checkout over three services as a saga: order, payment and points are finished
 * together or undone.
 */
@NullMarked
package dev.idempotent.sample.checkout;

import org.jspecify.annotations.NullMarked;
