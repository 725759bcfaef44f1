/**
 * Slows requests down, makes them fail, and halts the JVM where a client asks for it, so
 * that one can watch the promises being kept.
 */
@NullMarked
package dev.idempotent.sample.chaos;

import org.jspecify.annotations.NullMarked;
