/**
 * Auto-configuration for tests of applications.
 */
@NullMarked
package dev.idempotent.autoconfigure.test;

import org.jspecify.annotations.NullMarked;
