/**
 * The engine of idempotency: claims a key in a store or in a database transaction, renews
 * its lease while the work runs, and settles the claim. Internal to the starter.
 */
@NullMarked
package dev.idempotent.idempotency.engine;

import org.jspecify.annotations.NullMarked;
