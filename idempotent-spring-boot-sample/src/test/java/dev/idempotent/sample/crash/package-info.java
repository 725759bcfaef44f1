/**
 * Crashes everything that the shop stands on while customers place orders, and checks
 * that each key made one order and got one answer.
 */
@NullMarked
package dev.idempotent.sample.crash;

import org.jspecify.annotations.NullMarked;
