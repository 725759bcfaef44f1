/**
 * Guarded transitions: which states may follow each other. Uses only the JDK, so that
 * entities can use them.
 */
@NullMarked
package dev.idempotent.transition;

import org.jspecify.annotations.NullMarked;
