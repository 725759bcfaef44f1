/**
 * A crash run of sagas, explained in {@code docs/crash-tests.md}.
 */
@NullMarked
package dev.idempotent.saga.crash;

import org.jspecify.annotations.NullMarked;
