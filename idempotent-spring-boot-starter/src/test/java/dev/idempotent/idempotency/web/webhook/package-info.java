/**
 * The example of docs/webhooks.md.
 */
@NullMarked
package dev.idempotent.idempotency.web.webhook;

import org.jspecify.annotations.NullMarked;
