/**
 * Keeps keys in a table of the application's database, one row for each. The only package
 * of the first promise that knows JDBC.
 */
@NullMarked
package dev.idempotent.idempotency.jdbc;

import org.jspecify.annotations.NullMarked;
