/**
 * Delays requests, lets them fail, and halts the JVM at the request of a client, to show
 * that the guarantees hold.
 */
@NullMarked
package dev.idempotent.sample.chaos;

import org.jspecify.annotations.NullMarked;
