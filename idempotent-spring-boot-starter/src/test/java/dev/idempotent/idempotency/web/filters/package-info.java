/**
 * Filters of an application around the filter of this library.
 */
@NullMarked
package dev.idempotent.idempotency.web.filters;

import org.jspecify.annotations.NullMarked;
