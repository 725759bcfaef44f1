/**
 * The example of docs/messages.md.
 */
@NullMarked
package dev.idempotent.idempotency.web.webhook;

import org.jspecify.annotations.NullMarked;
