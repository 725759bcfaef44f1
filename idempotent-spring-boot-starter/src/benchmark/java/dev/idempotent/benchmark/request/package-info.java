/**
 * What meters, traces and encryption add to an idempotent request.
 */
@NullMarked
package dev.idempotent.benchmark.request;

import org.jspecify.annotations.NullMarked;
