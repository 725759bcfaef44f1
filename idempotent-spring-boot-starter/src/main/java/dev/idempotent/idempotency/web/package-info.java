/**
 * Promise one over HTTP: filter, key, fingerprint, guard, capture, replay. The only
 * package that knows servlets.
 */
@NullMarked
package dev.idempotent.idempotency.web;

import org.jspecify.annotations.NullMarked;
