/**
 * Pays orders through a gateway outside the transaction: one charge per order.
 */
@NullMarked
package dev.idempotent.sample.payment;

import org.jspecify.annotations.NullMarked;
