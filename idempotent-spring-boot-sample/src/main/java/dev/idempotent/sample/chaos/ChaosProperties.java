package dev.idempotent.sample.chaos;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the failures that clients can request.
 *
 * @param enabled whether the header {@code X-Chaos} has an effect and Redis can be cut
 * off
 */
@ConfigurationProperties("sample.chaos")
record ChaosProperties(@DefaultValue("true") boolean enabled) {

}
