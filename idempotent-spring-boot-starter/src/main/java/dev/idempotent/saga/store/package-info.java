/**
 * What a saga leaves in the database: the saga with its owner, and the journal of its
 * steps. {@code SagaStore} says what can be done with it.
 */
@NullMarked
package dev.idempotent.saga.store;

import org.jspecify.annotations.NullMarked;
