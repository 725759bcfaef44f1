/**
 * Idempotency for the methods of beans, for message listeners and for code: one run and
 * one result per key.
 * <p>
 * {@code ToolMethod} is here, not in {@code idempotency.tool}, which knows whose call it
 * is and how to answer a model: it runs a {@code MethodOperation}, and the advisor of
 * this package calls it. In the other package, the two packages would use each other.
 */
@NullMarked
package dev.idempotent.idempotency.method;

import org.jspecify.annotations.NullMarked;
