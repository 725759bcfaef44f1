/**
 * Lets the context of a run follow its work from thread to thread. The only package that
 * knows Micrometer's context propagation.
 */
@NullMarked
package dev.idempotent.idempotency.propagation;

import org.jspecify.annotations.NullMarked;
