/**
 * The example of docs/webhooks.md, and what it promises.
 */
@NullMarked
package dev.idempotent.idempotency.web.webhook;

import org.jspecify.annotations.NullMarked;
