/**
 * What the annotations' expressions may say. The promises share it.
 */
@NullMarked
package dev.idempotent.expression;

import org.jspecify.annotations.NullMarked;
