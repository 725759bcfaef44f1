/**
 * Runs sagas: forward by their journal, backward by the undo actions of their steps, and
 * again after the death of their owner.
 */
@NullMarked
package dev.idempotent.saga.run;

import org.jspecify.annotations.NullMarked;
