/**
 * Lets an event take its trace along. The only package that knows Micrometer Tracing.
 */
@NullMarked
package dev.idempotent.outbox.tracing;

import org.jspecify.annotations.NullMarked;
