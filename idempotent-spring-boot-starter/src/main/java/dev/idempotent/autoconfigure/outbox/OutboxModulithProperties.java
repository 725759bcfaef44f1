package dev.idempotent.autoconfigure.outbox;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Properties of the events that Spring Modulith externalizes.
 *
 * @param publisher Prefix of targets that do not begin with the prefix of a publisher,
 * such as redis-stream. By default, such targets are refused.
 */
@ConfigurationProperties("idempotent.outbox.modulith")
record OutboxModulithProperties(@Nullable String publisher) {

}
