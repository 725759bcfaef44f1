/**
 * Appends the events that Spring Modulith externalizes. The only package that depends on
 * Spring Modulith.
 */
@NullMarked
package dev.idempotent.outbox.modulith;

import org.jspecify.annotations.NullMarked;
