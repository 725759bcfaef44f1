/**
 * Collects the events of a transaction and inserts them before its commit, after all
 * other synchronizations.
 */
@NullMarked
package dev.idempotent.outbox.transaction;

import org.jspecify.annotations.NullMarked;
