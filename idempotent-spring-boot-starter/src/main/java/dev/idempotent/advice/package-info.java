/**
 * Where advice sits among the other advice of a bean, the expressions that annotations
 * may hold, and what the advisors of all annotations share.
 */
@NullMarked
package dev.idempotent.advice;

import org.jspecify.annotations.NullMarked;
