/**
 * Sagas: work over several transactions and services that is finished or undone, even if
 * a process dies.
 */
@NullMarked
package dev.idempotent.saga;

import org.jspecify.annotations.NullMarked;
