/**
 * Slows requests down and makes them fail where a client asks for it, so that the
 * promises\n * can be watched being kept.
 */
@NullMarked
package dev.idempotent.sample.chaos;

import org.jspecify.annotations.NullMarked;
