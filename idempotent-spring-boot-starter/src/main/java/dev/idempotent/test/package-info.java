/**
 * Support for tests of applications: assertions, recorded events, lost answers, waits of
 * sagas that need not last, a participant that fails, an in-memory store, and the
 * contracts of stores and publishers. Used in test scope, with the libraries of
 * {@code spring-boot-starter-test}.
 */
@NullMarked
package dev.idempotent.test;

import org.jspecify.annotations.NullMarked;
