/**
 * Micrometer meters. The only package that uses its meter API.
 */
@NullMarked
package dev.idempotent.metrics;

import org.jspecify.annotations.NullMarked;
