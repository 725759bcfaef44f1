/**
 * Idempotent operations over HTTP: a servlet filter that runs, replays or refuses.
 */
@NullMarked
package dev.idempotent.idempotency.web;

import org.jspecify.annotations.NullMarked;
