/**
 * Work that follows a shipment: two handlers of one event, each retried until it
 * succeeds.
 */
@NullMarked
package dev.idempotent.sample.shipment;

import org.jspecify.annotations.NullMarked;
