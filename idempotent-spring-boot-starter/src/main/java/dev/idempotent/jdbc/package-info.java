/**
 * Shared JDBC infrastructure of idempotency, outbox, sagas and transitions: connections,
 * statements and the differences between databases.
 */
@NullMarked
package dev.idempotent.jdbc;

import org.jspecify.annotations.NullMarked;
