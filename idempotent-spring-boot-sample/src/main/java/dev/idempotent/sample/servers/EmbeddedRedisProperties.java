package dev.idempotent.sample.servers;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Properties of the embedded Redis.
 *
 * @param executable the redis-server to start, also {@code EMBEDDED_REDIS_EXECUTABLE} in
 * the environment; by default the bundled one
 */
@ConfigurationProperties("embedded.redis")
record EmbeddedRedisProperties(@Nullable Path executable) {

}
