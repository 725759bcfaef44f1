/**
 * One run and one result per key for the methods of beans, the listeners of messages, and
 * code.
 */
@NullMarked
package dev.idempotent.idempotency.method;

import org.jspecify.annotations.NullMarked;
