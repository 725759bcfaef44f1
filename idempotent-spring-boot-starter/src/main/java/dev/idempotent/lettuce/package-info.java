/**
 * Connections of our own to the servers that the application has told Lettuce of. The
 * promises share it.
 */
@NullMarked
package dev.idempotent.lettuce;

import org.jspecify.annotations.NullMarked;
