/**
 * Hints for native images.
 */
@NullMarked
package dev.idempotent.autoconfigure.aot;

import org.jspecify.annotations.NullMarked;
