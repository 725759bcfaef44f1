/**
 * Checks that run before anything else starts, with whatever optional libraries the
 * application has.
 */
@NullMarked
package dev.idempotent.autoconfigure.startup;

import org.jspecify.annotations.NullMarked;
