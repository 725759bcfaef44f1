package dev.idempotent.sample.stock;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.Assert;

/**
 * Properties of reservations.
 *
 * @param hold how long a unit is held for a buyer who does not order; at least 1 ms
 */
@ConfigurationProperties("sample.sale")
record ReservationProperties(@DefaultValue("30s") Duration hold) {

	ReservationProperties {
		Assert.isTrue(hold.toMillis() > 0, "sample.sale.hold must be at least 1 ms");
	}

}
