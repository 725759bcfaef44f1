/**
 * The applications that HTTP requests are measured on. Runs in a JVM of its own and knows
 * nothing of the benchmark, nor, but for the contenders of this project, of the starter.
 */
@NullMarked
package dev.idempotent.benchmark.http.application;

import org.jspecify.annotations.NullMarked;
