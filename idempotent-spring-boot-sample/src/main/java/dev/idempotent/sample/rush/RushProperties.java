package dev.idempotent.sample.rush;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties of a rush that runs when the shop has started, and ends it.
 *
 * @param users the number of users, or 0 for no rush
 * @param stock the number of units
 * @param perUser how many units a user may have
 */
@ConfigurationProperties("sample.rush")
record RushProperties(@DefaultValue("0") int users, @DefaultValue("1000") int stock, @DefaultValue("1") int perUser) {

}
