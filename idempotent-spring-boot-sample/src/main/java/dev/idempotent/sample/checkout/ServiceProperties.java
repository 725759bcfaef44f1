package dev.idempotent.sample.checkout;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Where the services of other companies are. Instances that share a database must call
 * the same ones.
 *
 * @param gateway the address of the payment gateway, such as
 * {@code http://127.0.0.1:8080}; by default, this instance's own
 * @param points the address of the points service; by default, one that this instance
 * starts
 */
@ConfigurationProperties("sample.services")
record ServiceProperties(@Nullable String gateway, @Nullable String points) {

}
