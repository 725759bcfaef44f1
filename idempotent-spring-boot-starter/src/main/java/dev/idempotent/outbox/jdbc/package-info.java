/**
 * Keeps events in tables of the application's database: those to deliver, those that wait
 * for another attempt, and the dead. The only package of the second promise that knows
 * JDBC.
 */
@NullMarked
package dev.idempotent.outbox.jdbc;

import org.jspecify.annotations.NullMarked;
