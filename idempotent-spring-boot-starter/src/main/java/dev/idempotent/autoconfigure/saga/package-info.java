/**
 * Auto-configuration of sagas.
 */
@NullMarked
package dev.idempotent.autoconfigure.saga;

import org.jspecify.annotations.NullMarked;
