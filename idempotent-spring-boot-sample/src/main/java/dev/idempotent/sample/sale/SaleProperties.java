package dev.idempotent.sample.sale;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of the flash sale.
 *
 * @param requestsPerSecond how many requests for a unit an instance accepts per second
 * @param burst how many it accepts at once after a pause
 */
@ConfigurationProperties("sample.sale")
record SaleProperties(@DefaultValue("2000") int requestsPerSecond, @DefaultValue("500") int burst) {

}
