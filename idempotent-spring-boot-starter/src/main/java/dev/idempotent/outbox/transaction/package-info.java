/**
 * Collects the events of a transaction and writes them before its commit, whatever else
 * takes part in it.
 */
@NullMarked
package dev.idempotent.outbox.transaction;

import org.jspecify.annotations.NullMarked;
