/**
 * One-time tokens: idempotency keys that the server issues, signs and verifies without a
 * store.
 */
@NullMarked
package dev.idempotent.token;

import org.jspecify.annotations.NullMarked;
