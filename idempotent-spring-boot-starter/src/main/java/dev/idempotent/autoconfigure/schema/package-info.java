/**
 * Creates the tables of the promises.
 */
@NullMarked
package dev.idempotent.autoconfigure.schema;

import org.jspecify.annotations.NullMarked;
