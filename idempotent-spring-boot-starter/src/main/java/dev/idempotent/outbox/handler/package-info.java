/**
 * The methods of the application that handle events: found, checked and called, in the
 * transaction that removes the event.
 */
@NullMarked
package dev.idempotent.outbox.handler;

import org.jspecify.annotations.NullMarked;
