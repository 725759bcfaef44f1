/**
 * Stands for somebody else's payment gateway, in the same JVM for want of another: it
 * speaks HTTP, keeps a book of its own, and charges once per idempotency key.
 */
@NullMarked
package dev.idempotent.sample.gateway;

import org.jspecify.annotations.NullMarked;
