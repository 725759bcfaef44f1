/**
 * One key, one run, one answer: the annotation, the claim on a key, and the guard that
 * keeps it. Knows the JDK and nothing else; the neighbouring packages bring HTTP, JSON
 * and the stores.
 */
@NullMarked
package dev.idempotent.idempotency;

import org.jspecify.annotations.NullMarked;
