/**
 * The filters of an application around that of this library.
 */
@NullMarked
package dev.idempotent.idempotency.web.filters;

import org.jspecify.annotations.NullMarked;
