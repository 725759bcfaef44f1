/**
 * What all work in the background shares: the log of outages, loops, backoff and
 * observers.
 */
@NullMarked
package dev.idempotent.concurrent;

import org.jspecify.annotations.NullMarked;
