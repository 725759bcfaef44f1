/**
 * Micrometer meters. The only package that depends on the meter API.
 */
@NullMarked
package dev.idempotent.metrics;

import org.jspecify.annotations.NullMarked;
