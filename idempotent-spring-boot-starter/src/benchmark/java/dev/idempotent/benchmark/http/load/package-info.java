/**
 * Generates the load, in a JVM of its own, and verifies each response.
 */
@NullMarked
package dev.idempotent.benchmark.http.load;

import org.jspecify.annotations.NullMarked;
