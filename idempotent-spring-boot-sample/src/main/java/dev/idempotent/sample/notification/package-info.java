/**
 * Notifies customers of what happens to their orders: one event, one notification,
 * however often the event is delivered.
 */
@NullMarked
package dev.idempotent.sample.notification;

import org.jspecify.annotations.NullMarked;
