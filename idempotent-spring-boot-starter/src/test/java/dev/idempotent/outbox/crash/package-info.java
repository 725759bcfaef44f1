/**
 * A crash run of events that their keys order, explained in {@code docs/crash-tests.md}.
 */
@NullMarked
package dev.idempotent.outbox.crash;

import org.jspecify.annotations.NullMarked;
