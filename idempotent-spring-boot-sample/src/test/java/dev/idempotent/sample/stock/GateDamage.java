package dev.idempotent.sample.stock;

import org.springframework.data.redis.core.BoundHashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * A damage of a gate.
 */
enum GateDamage {

	NONE, NO_SHELVES, NO_OWNERS, NO_LIMIT, OTHER_LIMIT, NO_UNITS, UNITS_TOO_HIGH, UNITS_TOO_LOW, UNITS_NOT_A_NUMBER,
	NO_VERSION, NO_FREE_UNITS, NO_SHELF, FREE_UNITS_NOT_A_NUMBER, OLDER, NEWER, EQUAL_BUT_DIFFERENT, UNKNOWN_SHELF,
	UNKNOWN_FIELD, SHELVES_OF_ANOTHER_TYPE, TICKETS_OF_ANOTHER_TYPE, OWNERS_OF_ANOTHER_TYPE;

	void inflictOn(GateKeys keys, StringRedisTemplate redis) {
		BoundHashOperations<String, String, String> shelves = redis.boundHashOps(keys.shelves());
		switch (this) {
			case NONE -> {
			}
			case NO_SHELVES -> redis.delete(keys.shelves());
			case NO_OWNERS -> redis.delete(keys.owners());
			case NO_LIMIT -> shelves.delete("limit");
			case OTHER_LIMIT -> shelves.put("limit", "5");
			case NO_UNITS -> shelves.delete("units");
			case UNITS_TOO_HIGH -> shelves.increment("units", 1);
			case UNITS_TOO_LOW -> shelves.increment("units", -1);
			case UNITS_NOT_A_NUMBER -> shelves.put("units", "many");
			case NO_VERSION -> shelves.delete("v1");
			case NO_FREE_UNITS -> shelves.delete("f1");
			case NO_SHELF -> shelves.delete("v1", "f1");
			case FREE_UNITS_NOT_A_NUMBER -> shelves.put("f1", "");
			case OLDER -> shelves.increment("v1", -1);
			case NEWER -> shelves.increment("v1", 1);
			case EQUAL_BUT_DIFFERENT -> {
				shelves.increment("f1", 1);
				shelves.increment("units", 1);
			}
			case UNKNOWN_SHELF -> {
				shelves.put("v99", "1");
				shelves.put("f99", "0");
			}
			case UNKNOWN_FIELD -> shelves.put("color", "red");
			case SHELVES_OF_ANOTHER_TYPE -> redis.opsForValue().set(keys.shelves(), "");
			case TICKETS_OF_ANOTHER_TYPE -> redis.opsForValue().set(keys.tickets(), "");
			case OWNERS_OF_ANOTHER_TYPE -> redis.opsForValue().set(keys.owners(), "");
		}
	}

}
