/**
 * Simulates an external payment gateway in the same JVM: it is called over HTTP, has its
 * own tables, and charges or refunds once per idempotency key.
 */
@NullMarked
package dev.idempotent.sample.gateway;

import org.jspecify.annotations.NullMarked;
