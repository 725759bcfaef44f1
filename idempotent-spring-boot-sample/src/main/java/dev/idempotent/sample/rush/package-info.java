/**
 * Thousands of buyers who retry, and the verdict on what they were told and what the
 * database has.
 */
@NullMarked
package dev.idempotent.sample.rush;

import org.jspecify.annotations.NullMarked;
