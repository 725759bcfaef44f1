package dev.idempotent.autoconfigure.idempotency;

import java.security.Principal;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * How one-time tokens are bound to callers.
 *
 * @param identify identifies a principal; {@code null} for an anonymous one
 * @param current returns the caller of the current thread, or {@code null}
 */
record TokenCallers(Function<Principal, @Nullable String> identify, Supplier<@Nullable Principal> current) {
}
