@NullMarked
package dev.idempotent.idempotency.openapi;

import org.jspecify.annotations.NullMarked;
