/**
 * Looks for mistakes before anything starts, whatever libraries the application has.
 */
@NullMarked
package dev.idempotent.autoconfigure.startup;

import org.jspecify.annotations.NullMarked;
