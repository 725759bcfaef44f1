/**
 * The journal of sagas in tables of the application's database.
 */
@NullMarked
package dev.idempotent.saga.jdbc;

import org.jspecify.annotations.NullMarked;
