/**
 * Pays orders through a gateway that does not roll back with us: one order, one charge.
 */
@NullMarked
package dev.idempotent.sample.payment;

import org.jspecify.annotations.NullMarked;
