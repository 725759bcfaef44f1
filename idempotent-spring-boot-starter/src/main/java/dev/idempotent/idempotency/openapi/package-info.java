/**
 * API documentation with springdoc: what the clients of idempotent operations need to
 * know.
 */
@NullMarked
package dev.idempotent.idempotency.openapi;

import org.jspecify.annotations.NullMarked;
