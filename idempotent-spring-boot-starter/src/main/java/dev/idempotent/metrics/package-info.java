/**
 * Tells Micrometer how the promises are kept. The only package that knows its meters.
 */
@NullMarked
package dev.idempotent.metrics;

import org.jspecify.annotations.NullMarked;
