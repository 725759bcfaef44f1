/**
 * Compares README.md and docs with the code.
 */
@NullMarked
package dev.idempotent.documentation;

import org.jspecify.annotations.NullMarked;
