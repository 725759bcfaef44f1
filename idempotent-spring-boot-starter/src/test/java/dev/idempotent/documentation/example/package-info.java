/**
 * Examples of the documentation, as they are compiled and run.
 */
@NullMarked
package dev.idempotent.documentation.example;

import org.jspecify.annotations.NullMarked;
