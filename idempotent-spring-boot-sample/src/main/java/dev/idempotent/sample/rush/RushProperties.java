package dev.idempotent.sample.rush;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.Assert;

/**
 * Properties of a rush that runs when the shop has started, and ends it.
 *
 * @param users the number of users, 1 to 100,000; without this property there is no rush
 * @param stock the number of units
 * @param perUser how many units a user may have, 1 to 10
 */
@ConfigurationProperties("sample.rush")
record RushProperties(@DefaultValue("1") int users, @DefaultValue("1000") int stock, @DefaultValue("1") int perUser) {

	RushProperties {
		Assert.isTrue(users >= 1 && users <= 100_000, "sample.rush.users must be 1 to 100000");
		Assert.isTrue(stock >= 1 && stock <= 100_000, "sample.rush.stock must be 1 to 100000");
		Assert.isTrue(perUser >= 1 && perUser <= 10, "sample.rush.per-user must be 1 to 10");
	}

}
