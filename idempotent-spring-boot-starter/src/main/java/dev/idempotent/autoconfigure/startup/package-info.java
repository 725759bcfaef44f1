/**
 * Checks that run before anything else starts, whichever optional libraries are present.
 */
@NullMarked
package dev.idempotent.autoconfigure.startup;

import org.jspecify.annotations.NullMarked;
