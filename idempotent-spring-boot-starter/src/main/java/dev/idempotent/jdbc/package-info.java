/**
 * Shared JDBC infrastructure of idempotency and outbox: connections, statements and the
 * differences between databases.
 */
@NullMarked
package dev.idempotent.jdbc;

import org.jspecify.annotations.NullMarked;
