/**
 * Accepts feedback from a form that sends no keys.
 */
@NullMarked
package dev.idempotent.sample.feedback;

import org.jspecify.annotations.NullMarked;
