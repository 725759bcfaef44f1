/**
 * Auto-configuration. The only package that depends on Spring Boot; no other package
 * depends on it.
 */
@NullMarked
package dev.idempotent.autoconfigure;

import org.jspecify.annotations.NullMarked;
