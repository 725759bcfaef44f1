/**
 * Every kind of handler under every flavour of application.
 */
@NullMarked
package dev.idempotent.idempotency.web.matrix;

import org.jspecify.annotations.NullMarked;
