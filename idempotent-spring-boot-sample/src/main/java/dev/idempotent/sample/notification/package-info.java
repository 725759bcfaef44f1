/**
 * Notifies customers about their orders: one notification per event, however often the
 * event is delivered.
 */
@NullMarked
package dev.idempotent.sample.notification;

import org.jspecify.annotations.NullMarked;
