/**
 * How outages of servers are logged, shared by idempotency, outbox and stream listeners.
 */
@NullMarked
package dev.idempotent.outage;

import org.jspecify.annotations.NullMarked;
