/**
 * The infrastructure of all annotations: finding annotated methods, advising them at the
 * right place among other advice, checking them at start-up, and the SpEL expressions of
 * their attributes.
 */
@NullMarked
package dev.idempotent.aop;

import org.jspecify.annotations.NullMarked;
