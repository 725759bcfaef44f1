/**
 * Propagation over HTTP: requests to other services carry keys that are derived from the
 * key under which they are made. Knows Spring's HTTP clients and no store.
 */
@NullMarked
package dev.idempotent.idempotency.client;

import org.jspecify.annotations.NullMarked;
