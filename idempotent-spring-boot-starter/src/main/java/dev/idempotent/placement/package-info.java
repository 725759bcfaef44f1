/**
 * Where advice sits among the other advice of a bean, whatever the application's order of
 * advisors. The promises share it.
 */
@NullMarked
package dev.idempotent.placement;

import org.jspecify.annotations.NullMarked;
