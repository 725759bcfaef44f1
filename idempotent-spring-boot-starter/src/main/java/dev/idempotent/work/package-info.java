/**
 * What all work in the background shares: the log of outages, loops, backoff and
 * observers.
 */
@NullMarked
package dev.idempotent.work;

import org.jspecify.annotations.NullMarked;
