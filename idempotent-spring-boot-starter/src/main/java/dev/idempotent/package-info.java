/**
 * The public API that all features share.
 */
@NullMarked
package dev.idempotent;

import org.jspecify.annotations.NullMarked;
