/**
 * How outages of servers are logged, shared by idempotency and outbox.
 */
@NullMarked
package dev.idempotent.outage;

import org.jspecify.annotations.NullMarked;
