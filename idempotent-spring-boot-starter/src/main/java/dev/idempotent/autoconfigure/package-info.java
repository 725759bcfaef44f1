/**
 * Puts the other packages together in a Spring Boot application. The only package that
 * knows Spring Boot; nothing depends on it.
 */
@NullMarked
package dev.idempotent.autoconfigure;

import org.jspecify.annotations.NullMarked;
