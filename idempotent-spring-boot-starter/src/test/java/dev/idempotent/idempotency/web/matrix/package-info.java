/**
 * Every kind of handler in every kind of application.
 */
@NullMarked
package dev.idempotent.idempotency.web.matrix;

import org.jspecify.annotations.NullMarked;
