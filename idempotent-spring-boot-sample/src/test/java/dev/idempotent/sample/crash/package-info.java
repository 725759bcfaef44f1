/**
 * Crashes the shop and its servers while customers place orders and pay, and checks that
 * each key has one order and one response, and that each order and payment was published
 * and handled once.
 */
@NullMarked
package dev.idempotent.sample.crash;

import org.jspecify.annotations.NullMarked;
