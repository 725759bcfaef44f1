/**
 * Stores idempotency keys in a table of the application's database. The only package of
 * idempotency that uses JDBC.
 */
@NullMarked
package dev.idempotent.idempotency.jdbc;

import org.jspecify.annotations.NullMarked;
