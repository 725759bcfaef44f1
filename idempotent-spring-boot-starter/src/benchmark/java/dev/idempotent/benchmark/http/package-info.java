/**
 * What an idempotent request costs over HTTP, beside the same work by hand and an
 * endpoint that does nothing of the kind.
 */
@NullMarked
package dev.idempotent.benchmark.http;

import org.jspecify.annotations.NullMarked;
