/**
 * Crashes everything that the shop stands on while customers place orders and pay, and
 * checks that each key made one order and got one answer, and that each order and each
 * payment was published and had its effect once.
 */
@NullMarked
package dev.idempotent.sample.crash;

import org.jspecify.annotations.NullMarked;
