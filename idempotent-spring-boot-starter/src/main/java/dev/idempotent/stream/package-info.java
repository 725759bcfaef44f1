/**
 * Brings the entries of Redis Streams to the methods of an application. Knows neither the
 * outbox, whose events they may be, nor who lets a duplicate have no effect.
 */
@NullMarked
package dev.idempotent.stream;

import org.jspecify.annotations.NullMarked;
