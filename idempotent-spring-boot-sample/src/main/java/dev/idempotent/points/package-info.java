/**
 * The points service: another application than the shop, with its own keys and tables,
 * that credits points and cancels credits.
 */
@NullMarked
package dev.idempotent.points;

import org.jspecify.annotations.NullMarked;
