package dev.idempotent.sample.rush;

import org.jspecify.annotations.Nullable;

/**
 * A request that is sent until there is a final answer, and again when the rush is over.
 *
 * @param path the path of the resource
 * @param key the idempotency key, or {@code null} if the path identifies the request
 * @param json the body
 */
record Ask(String path, @Nullable String key, String json) {

}
