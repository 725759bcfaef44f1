/**
 * The engine of sagas: runs their methods, records their steps, undoes them in reverse
 * order, and takes sagas over from owners that have died.
 */
@NullMarked
package dev.idempotent.saga.engine;

import org.jspecify.annotations.NullMarked;
