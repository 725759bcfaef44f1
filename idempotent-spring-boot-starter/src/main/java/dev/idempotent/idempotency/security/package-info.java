/**
 * Tells callers apart by what Spring Security knows of them. The only package that knows
 * it.
 */
@NullMarked
package dev.idempotent.idempotency.security;

import org.jspecify.annotations.NullMarked;
