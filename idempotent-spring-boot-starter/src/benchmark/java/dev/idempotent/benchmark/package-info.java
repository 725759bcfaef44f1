/**
 * Measures contenders side by side, in rounds, on real servers. Knows nothing of what is
 * measured.
 */
@NullMarked
package dev.idempotent.benchmark;

import org.jspecify.annotations.NullMarked;
