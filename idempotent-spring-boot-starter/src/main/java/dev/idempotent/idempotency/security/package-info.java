/**
 * Identifies callers by their Spring Security authentication.
 */
@NullMarked
package dev.idempotent.idempotency.security;

import org.jspecify.annotations.NullMarked;
