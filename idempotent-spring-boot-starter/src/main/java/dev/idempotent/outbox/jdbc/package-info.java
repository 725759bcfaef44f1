/**
 * Stores events in tables of the application's database. The only package of the outbox
 * that uses JDBC.
 */
@NullMarked
package dev.idempotent.outbox.jdbc;

import org.jspecify.annotations.NullMarked;
